# cmake -DINPUT=file -DOUTPUT=file.cpp -DSYMBOL=name -P farm_embed.cmake
# Writes a C++ file whose `farm::codegen::name()` gives the bytes of INPUT.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x[0-9a-f][0-9a-f],){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <cstddef>
#include <span>

namespace farm::codegen {

alignas(8) static const unsigned char kBytes[] = {
${bytes}};

std::span<const std::byte> ${SYMBOL}() { return std::as_bytes(std::span(kBytes)); }

}  // namespace farm::codegen
")
