// Door of the room `rpc`: the wire. Every message is documented in rpc/messages.h.
// rpc/event_loop.h and rpc/messages.h are doors of their own, for the two programs that serve.
#pragma once
#include "rpc/client.h"
