// Foreign text in messages: it has no effect on a terminal and breaks no line.
#include <ambit/ambit.h>
#include <ambit/detail/printable.h>
#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace ambit;

TEST_CASE("control characters and invalid UTF-8 are escaped, other text is unchanged") {
  CHECK(printable("") == "");
  CHECK(printable("plain \"text\" \\ with 100 %") == "plain \"text\" \\ with 100 %");
  CHECK(printable("é 张量 🙂") == "é 张量 🙂");
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(printable(std::string("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
  // U+0080 to U+009F are control characters in two bytes: U+009B does what ESC [ does.
  CHECK(printable("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0") == "\\u0080\\u009b\\u009f\xc2\xa0");
  // Latin-1, a truncated character, an overlong one, half a surrogate pair.
  CHECK(printable("\xe9t\xe9") == "\\xe9t\\xe9");
  CHECK(printable("a\xe5\xbc") == "a\\xe5\\xbc");
  CHECK(printable("\xc0\x8a") == "\\xc0\\x8a");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  const std::string once = printable("\x1b\n\xff");
  CHECK(printable(once) == once);
}

TEST_CASE("text of several lines keeps its lines") {
  CHECK(printable_lines("a\n\tb\r\x1b[0m\n") == "a\n\tb\\r\\x1b[0m\n");
  CHECK(printable_lines("é\n\xff") == "é\n\\xff");
}

TEST_CASE("a long text is truncated, but not within a character or an escape") {
  CHECK(one_line(std::string(1000, 'x')) == std::string(1000, 'x'));
  CHECK(one_line(std::string(1001, 'x')) == std::string(1000, 'x') + "...");
  CHECK(one_line(std::string(999, 'x') + "é") == std::string(999, 'x') + "...");
  CHECK(one_line(std::string(998, 'x') + "é" + "y") == std::string(998, 'x') + "é...");
  CHECK(one_line(std::string(1u << 20, '\n')).size() <= 1003);
}

TEST_CASE("no error's text has an effect on a terminal") {
  CHECK(std::string(Error("a\x1b]0;title\x07\nb").what()) == "a\\x1b]0;title\\x07\nb");
  CHECK(std::string(ShapeError("张量 \xc2\x9b").what()) == "张量 \\u009b");
}

TEST_CASE("names of parameters are escaped in errors and in printed modules") {
  nn::Linear layer(2, 2);
  nn::Sequential net;
  const std::string odd = "la\x1b[2J\nyer", shown = "la\\x1b[2J\\nyer";
  net->push_back(odd, layer);
  std::ostringstream printed;
  printed << *net;
  CHECK(printed.str().find("(" + shown + "): ") != std::string::npos);
  try {
    net->forward(ones({1, 2}, kMeta));
    FAIL("devices mix");
  } catch (const DeviceMismatchError& e) {
    CHECK(e.explain().find("parameter " + shown + ".weight") != std::string::npos);
    CHECK(e.explain().find('\x1b') == std::string::npos);
  }
  try {
    net->load_state_dict({{"o\rther", ones({2})}});
    FAIL("names differ");
  } catch (const Error& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(text.find(shown + ".weight") != std::string::npos);
    CHECK(text.find("o\\rther") != std::string::npos);
    CHECK(text.find("2J\nyer") == std::string::npos);
  }
  CHECK_THROWS_WITH_AS(net->push_back(odd, layer), doctest::Contains(("\"" + shown + "\"").c_str()),
                       Error);
}

TEST_CASE("paths are escaped in errors") {
  for (const char* file : {"/no/such\n\x1b[31m.pth", "/no/such\n\x1b[31m.safetensors"}) {
    INFO(printable(file));
    CHECK_THROWS_WITH_AS(load(file), doctest::Contains("'/no/such\\n\\x1b[31m."),
                         SerializationError);
    CHECK_THROWS_WITH_AS(save(StateDict{{"a", ones({1})}}, file),
                         doctest::Contains("'/no/such\\n\\x1b[31m."), SerializationError);
  }
}
