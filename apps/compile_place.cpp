#include "apps/compile_place.h"

#include <cctype>
#include <filesystem>

#include "apps/output_files.h"
#include "base/text.h"

namespace farm {
namespace {

bool is_c_keyword(const std::string& name) {
  static constexpr const char* kWords =
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr "
      "continue "
      "decltype default delete do double else enum explicit export extern false float for friend goto if inline int "
      "long "
      "main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
      "restrict return short signed sizeof static struct switch template this throw true try typedef typeid typename "
      "typeof union unsigned using virtual void volatile while xor xor_eq";
  for (const std::string& word : split(kWords, ' '))
    if (word == name) return true;
  return false;
}

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (unsigned char c : name)
    if (!std::isalnum(c) && c != '_') return false;
  return true;
}

/// "resnet18/conv2_x" becomes "resnet18_conv2_x".
std::string as_identifier(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) text = "_" + text;
  return text;
}

/// The part of a layer's name that tells it from the network's others; a file's lines have no names but their task.
std::string layer_suffix(const Layer& layer, size_t index) {
  if (layer.name.find('(') != std::string::npos) return layer.task.op + "_" + std::to_string(index + 1);
  return as_identifier(layer.name.substr(layer.name.find('/') + 1));
}

std::string default_name(const Layer& layer) {
  return as_identifier(layer.name.find('(') == std::string::npos ? layer.name : layer.task.op);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

std::string with_extension(const std::string& path, const char* extension) {
  return std::filesystem::path(path).replace_extension(extension).string();
}

Result<std::vector<CompiledLayer>> place_one(const Places& places, const Layer& layer, int threads) {
  CompiledLayer placed{.layer = layer.name, .occurrences = 1, .task = layer.task, .threads = threads};
  placed.name = places.name.empty() ? default_name(layer) : places.name;
  placed.library_path = places.output.empty() ? placed.name + ".so" : places.output;
  if (is_folder(placed.library_path))
    placed.library_path = (std::filesystem::path(places.output) / (placed.name + ".so")).string();
  placed.header_path = places.header.empty() ? with_extension(placed.library_path, ".h") : places.header;
  if (is_same_file(placed.header_path, placed.library_path))
    return fail(ErrorCode::InvalidArgument, "library and header are both ", printable(placed.header_path),
                "; --header names another file");
  return std::vector{std::move(placed)};
}

/// A network becomes a folder of libraries, one a layer.
Result<std::vector<CompiledLayer>> place_network(const Places& places, const Network& network, int threads) {
  std::string folder = places.output.empty() ? as_identifier(network.name) + "/" : places.output;
  if (!places.header.empty())
    return fail(ErrorCode::InvalidArgument, network.name, " has ", network.layers.size(),
                " layers, each with a header in the folder that -o names; leave --header out");
  if (!is_folder(folder))
    return fail(ErrorCode::InvalidArgument, network.name, " has ", network.layers.size(),
                " layers, so -o must be a folder for their libraries: ", printable(folder), "/");
  std::string prefix = places.name.empty() ? as_identifier(network.name) : places.name;
  std::vector<CompiledLayer> placed;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    CompiledLayer one{.layer = layer.name, .occurrences = layer.occurrences, .task = layer.task, .threads = threads};
    one.name = prefix + "_" + layer_suffix(layer, i);
    one.library_path = (std::filesystem::path(folder) / (one.name + ".so")).string();
    one.header_path = with_extension(one.library_path, ".h");
    placed.push_back(std::move(one));
  }
  return placed;
}

}  // namespace

Status check_library_name(const std::string& name) {
  if (name.empty()) return {};
  if (!is_identifier(name))
    return fail(ErrorCode::InvalidArgument, "--name is '", printable(name),
                "'; it must be a C identifier such as my_conv");
  if (is_c_keyword(name))
    return fail(ErrorCode::InvalidArgument, "--name is '", name, "', which is a word of C or C++; choose another");
  return {};
}

Result<std::vector<CompiledLayer>> place_layers(const Places& places, const Network& network, int threads) {
  if (network.layers.empty()) return fail(ErrorCode::InvalidArgument, printable(network.name), " names no task");
  return network.layers.size() == 1 ? place_one(places, network.layers.front(), threads)
                                    : place_network(places, network, threads);
}

Status make_folder(const CompiledLayer& layer) {
  std::filesystem::path folder = std::filesystem::path(layer.library_path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return fail(ErrorCode::Unavailable, "folder ", printable(folder.string()), " cannot be made: ", error.message());
}

}  // namespace farm
