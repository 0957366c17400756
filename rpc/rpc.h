// Door of the room `rpc`: the wire. Every message is documented in rpc/messages.h.
#pragma once
#include "rpc/client.h"
