#include <xgboost/c_api.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/text.h"
#include "cost_model/cost_model.h"
#include "cost_model/program_vector.h"

namespace farm {
namespace {

constexpr int kRounds = 40;
constexpr std::string_view kMagic = "tunefarm cost model";

// Few bins: with the default 256 histograms a fit on small data costs 6-8 times as much and ranks no better. One
// thread: two are slower on a busy machine, and sums in a fixed order make equal examples give equal trees.
constexpr std::pair<const char*, const char*> kParameters[] = {
    {"objective", "reg:squarederror"},
    {"tree_method", "hist"},
    {"max_bin", "16"},
    {"max_depth", "5"},
    {"eta", "0.2"},
    {"min_child_weight", "1"},
    {"lambda", "1"},
    {"nthread", "1"},
    {"colsample_bytree", "0.7"},
    {"subsample", "0.8"},
    {"verbosity", "0"},
};

Status checked(int return_code, std::string_view doing) {
  if (return_code == 0) return {};
  std::string_view reason = XGBGetLastError();
  return fail(ErrorCode::Corrupt, "cost model: xgboost failed ", doing, ": ", reason.substr(0, reason.find('\n')));
}

class Matrix {
 public:
  static Result<Matrix> open(const std::vector<float>& values, size_t rows, size_t columns) {
    Matrix matrix;
    FARM_CHECK(checked(XGDMatrixCreateFromMat_omp(values.data(), rows, columns, std::numeric_limits<float>::quiet_NaN(),
                                                  &matrix.handle_, 1),
                       "to take features"));
    return matrix;
  }
  Matrix(Matrix&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&& other) noexcept { return std::swap(handle_, other.handle_), *this; }
  ~Matrix() {
    if (handle_) XGDMatrixFree(handle_);
  }

  DMatrixHandle handle() const { return handle_; }

 private:
  Matrix() = default;
  DMatrixHandle handle_ = nullptr;
};

class Booster {
 public:
  static Result<Booster> open(DMatrixHandle matrix) {
    Booster booster;
    FARM_CHECK(checked(XGBoosterCreate(&matrix, matrix ? 1 : 0, &booster.handle_), "to make a model"));
    return booster;
  }
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&& other) noexcept { return std::swap(handle_, other.handle_), *this; }
  ~Booster() {
    if (handle_) XGBoosterFree(handle_);
  }

  Status set(const char* name, const char* value) {
    return checked(XGBoosterSetParam(handle_, name, value), "to take a parameter");
  }
  BoosterHandle handle() const { return handle_; }

 private:
  Booster() = default;
  BoosterHandle handle_ = nullptr;
};

// Throughput as a share of the task's best; a failed candidate has none.
std::vector<float> throughput_shares(std::span<const Example> examples) {
  std::map<std::string_view, double> best_ns;
  for (const Example& example : examples) {
    if (example.latency_ns <= 0) continue;
    double& best = best_ns.try_emplace(example.task, example.latency_ns).first->second;
    best = std::min(best, example.latency_ns);
  }
  std::vector<float> shares;
  for (const Example& example : examples)
    shares.push_back(example.latency_ns > 0 ? static_cast<float>(best_ns[example.task] / example.latency_ns) : 0.0f);
  return shares;
}

// Columns that do not vary teach nothing, yet each costs a histogram.
std::vector<uint32_t> varying_columns(const std::vector<std::vector<float>>& rows) {
  std::vector<uint32_t> columns;
  for (uint32_t c = 0; c < rows.front().size(); ++c)
    if (std::ranges::any_of(rows, [&](const auto& row) { return row[c] != rows.front()[c]; })) columns.push_back(c);
  if (columns.empty()) columns.push_back(0);
  return columns;
}

std::vector<float> pick(const std::vector<std::vector<float>>& rows, const std::vector<uint32_t>& columns) {
  std::vector<float> dense;
  dense.reserve(rows.size() * columns.size());
  for (const auto& row : rows)
    for (uint32_t c : columns) dense.push_back(row[c]);
  return dense;
}

// What a model reads of a program's vector.
struct Layout {
  size_t width = 0;  ///< of a row
  std::vector<uint32_t> columns;
};

std::string header_of(const Layout& layout) {
  std::vector<std::string> columns;
  columns.reserve(layout.columns.size());
  for (uint32_t c : layout.columns) columns.push_back(std::to_string(c));
  return std::string(kMagic) + "\nfeatures=" + std::to_string(kFeatureVersion) +
         "\nwidth=" + std::to_string(layout.width) + "\ncolumns=" + join(columns, ",") + "\n\n";
}

std::map<std::string, std::string> header_fields(std::string_view head) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : split(head, '\n'))
    if (const size_t equals = line.find('='); equals != line.npos)
      fields[line.substr(0, equals)] = line.substr(equals + 1);
  return fields;
}

Result<Layout> read_header(std::string_view head) {
  auto fields = header_fields(head);
  if (parse_int(fields["features"]) != kFeatureVersion)
    return fail(ErrorCode::InvalidArgument, "cost model: the file is of feature version ",
                printable(fields["features"]), "; this program reads version ", kFeatureVersion,
                ", so train a new model");
  const int64_t width = parse_int(fields["width"]).value_or(0);
  Layout layout{static_cast<size_t>(width), {}};
  for (const std::string& word : split(fields["columns"], ',')) {
    const auto column = parse_int(word);
    if (!column || *column < 0 || *column >= 2 * width)
      return fail(ErrorCode::Corrupt, "cost model: the file names column ", printable(word), " of ", 2 * width);
    layout.columns.push_back(static_cast<uint32_t>(*column));
  }
  if (layout.columns.empty()) return fail(ErrorCode::Corrupt, "cost model: the file names no columns");
  return layout;
}

size_t row_width(std::span<const Example> examples) {
  for (const Example& example : examples)
    if (!example.features.empty()) return example.features.front().size();
  return 1;
}

class XgboostModel final : public CostModel {
 public:
  explicit XgboostModel(uint64_t seed) : seed_(std::to_string(seed % (uint64_t{1} << 31))) {}

  Status fit(std::span<const Example> examples) override {
    if (examples.empty()) return fail(ErrorCode::InvalidArgument, "cost model: no examples to learn from");
    std::vector<std::vector<float>> rows;
    Layout layout{row_width(examples), {}};
    for (const Example& example : examples) rows.push_back(program_vector(example.features, layout.width));
    layout.columns = varying_columns(rows);
    const std::vector<float> shares = throughput_shares(examples);
    FARM_TRY(Matrix matrix, Matrix::open(pick(rows, layout.columns), rows.size(), layout.columns.size()));
    FARM_CHECK(
        checked(XGDMatrixSetFloatInfo(matrix.handle(), "label", shares.data(), shares.size()), "to take labels"));
    FARM_TRY(Booster booster, Booster::open(matrix.handle()));
    FARM_CHECK(configure(booster));
    for (int round = 0; round < kRounds; ++round)
      FARM_CHECK(checked(XGBoosterUpdateOneIter(booster.handle(), round, matrix.handle()), "to learn"));
    booster_ = std::make_unique<Booster>(std::move(booster));
    layout_ = std::move(layout);
    return {};
  }

  bool trained() const override { return booster_ != nullptr; }

  std::vector<double> predict(std::span<const FeatureRows> programs) const override {
    std::vector<double> scores(programs.size(), 0.0);
    if (!trained() || programs.empty()) return scores;
    std::vector<std::vector<float>> rows;
    for (const FeatureRows& program : programs) rows.push_back(program_vector(program, layout_.width));
    const auto matrix = Matrix::open(pick(rows, layout_.columns), rows.size(), layout_.columns.size());
    if (!matrix) return scores;
    bst_ulong length = 0;
    const float* values = nullptr;
    if (XGBoosterPredict(booster_->handle(), matrix->handle(), 0, 0, 0, &length, &values) != 0) return scores;
    std::copy_n(values, std::min<size_t>(length, scores.size()), scores.begin());
    return scores;
  }

  Result<std::vector<std::byte>> save() const override {
    if (!trained()) return fail(ErrorCode::InvalidArgument, "cost model: nothing to save before it has learned");
    bst_ulong length = 0;
    const char* model = nullptr;
    FARM_CHECK(
        checked(XGBoosterSaveModelToBuffer(booster_->handle(), R"({"format":"ubj"})", &length, &model), "to save"));
    const std::string head = header_of(layout_);
    std::vector<std::byte> bytes(head.size() + length);
    std::memcpy(bytes.data(), head.data(), head.size());
    std::memcpy(bytes.data() + head.size(), model, length);
    return bytes;
  }

  Status load(std::span<const std::byte> bytes) override {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t end = text.find("\n\n");
    if (!text.starts_with(kMagic) || end == text.npos) return fail(ErrorCode::Corrupt, "cost model: not a model file");
    FARM_TRY(Layout layout, read_header(text.substr(0, end)));
    const std::string_view model = text.substr(end + 2);
    FARM_TRY(Booster booster, Booster::open(nullptr));
    FARM_CHECK(booster.set("nthread", "1"));
    FARM_CHECK(booster.set("verbosity", "0"));
    FARM_CHECK(checked(XGBoosterLoadModelFromBuffer(booster.handle(), model.data(), model.size()), "to load"));
    booster_ = std::make_unique<Booster>(std::move(booster));
    layout_ = std::move(layout);
    return {};
  }

 private:
  Status configure(Booster& booster) const {
    for (const auto& [name, value] : kParameters) FARM_CHECK(booster.set(name, value));
    return booster.set("seed", seed_.c_str());
  }

  std::string seed_;
  std::unique_ptr<Booster> booster_;
  Layout layout_;
};

}  // namespace

std::unique_ptr<CostModel> make_xgboost_model(uint64_t seed) { return std::make_unique<XgboostModel>(seed); }

}  // namespace farm
