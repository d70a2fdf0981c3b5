#!/usr/bin/env bash
# Find wording in comments and documents that CONTRIBUTING.md ("How we write") excludes. Prints each
# place. Adjacent lines of a comment or a paragraph are joined, so that a phrase is found across lines.
# tests/style_test.sh [the project's folder]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# CONTRIBUTING.md quotes excluded wording, and so does this file.
find .ci apps backends cmake core docs findings nn tests torch CMakeLists.txt ./*.md -type f \
  ! -name style_test.sh ! -path ./CONTRIBUTING.md ! -path '*/build/*' | sort >"$work/files"

# Write each text to a line of `texts`: a comment, a paragraph, a row of a table, a docstring of Python,
# or the name of a test case. The same line of `places` has its file and line.
cat >"$work/texts.pl" <<'PERL'
open(my $texts, '>', "$ARGV[0]/texts") or die;
open(my $places, '>', "$ARGV[0]/places") or die;
my ($text, $place, $column) = ('', '', -1);
sub finish {
  print($texts "$text\n") && print($places "$place\n") if $text ne '';
  ($text, $column) = ('', -1);
}
# A line at a column continues the text of the line before it at this column, unless it starts an item.
sub add {
  my ($line, $where, $at) = @_;
  $line =~ s/^\s+|\s+$//g;
  finish() if $line eq '' || $at != $column || $line =~ /^(?:[-*|] |\d+\. |\|)/;
  ($text, $place) = ('', $where) if $text eq '';
  $line =~ s/^[-*] //;
  $text .= ($text eq '' ? '' : ' ') . $line;
  $column = $at;
}
open(my $files, '<', "$ARGV[0]/files") or die;
while (my $path = <$files>) {
  chomp $path;
  my $kind = $path =~ /\.(?:h|hpp|cpp|cu|cuh|cl|inl)$/ ? 'c++' : $path =~ /\.(?:md|dox|1)$/ ? 'page'
    : $path =~ /\.py$/ ? 'python' : $path =~ /\.(?:sh|cmake|yml|in)$|\/(?:CMakeLists\.txt|run)$/ ? 'script'
    : next;
  open(my $file, '<', $path) or die "$path: $!";
  my ($n, $code, $doc) = (0, 0, 0);
  my $whole = '';
  while (my $line = <$file>) {
    ++$n;
    $whole .= $line;
    chomp $line;
    if ($kind eq 'page') {
      $code = !$code if $line =~ /^\s*```/;
      finish() if $code || $line =~ /^\s*(?:```|#)/;
      add($line, "$path:$n", $code ? 1000 + $n : 0);
      finish() if $line =~ /^\s*(?:```|#)/;
    } elsif ($kind eq 'c++') {
      $line =~ m{(?<!:)///?<?(.*)} ? add($1, "$path:$n", $-[0]) : finish();
    } elsif ($kind eq 'python' && ($doc || $line =~ /^\s*"""/)) {
      my $quotes = () = $line =~ /"""/g;
      $doc ^= $quotes % 2;
      add($line =~ s/"""//gr, "$path:$n", 0);
      finish() if !$doc;
    } else {
      $line =~ /(?:^|\s)#(?!!)(.*)/ ? add($1, "$path:$n", $-[0]) : finish();
    }
  }
  finish();
  next if $kind ne 'c++';
  while ($whole =~ /(?:TEST_CASE|SUBCASE)\(\s*"((?:[^"\\]|\\.)*)"/g) {
    my $n = 1 + (substr($whole, 0, $-[1]) =~ tr/\n//);
    add($1, "$path:$n", 0);
    finish();
  }
}
PERL
perl "$work/texts.pl" "$work"

# exclude <advice> <pattern>: the pattern, a Perl regular expression, matches a text.
exclude() {
  local found
  found=$(grep -anP -- "$2" "$work/texts" || true)
  [[ -n $found ]] || return 0
  while IFS=: read -r n text; do
    echo "$(sed -n "${n}p" "$work/places"): $(grep -aoP -- ".{0,50}(?:$2).{0,50}" <<<"$text" | head -1)"
  done <<<"$found"
  echo "style_test: $1: $(wc -l <<<"$found") places"
  failures=$((failures + 1))
}

exclude 'begin a sentence with its subject, not with "What ..."' \
  '(?:^What|(?<=[.:;] )[Ww]hat) (?!kind|happens|works|loads)[a-z]+ '
exclude 'code and data are not people: name them' '\b(?:[Nn]obody|[Ss]omebody|(?<!Anyone )(?<!user )(?<!users )[Ww]ho(?:ever|m)?)\b'
exclude 'write "after", "next to", "with"' '\b(?:behind|[Bb]eside)\b'
exclude 'write "remains" or "the rest"' '\b(?:is|are) left(?! (?:to|out|alone|unchanged|unwritten|running))\b'
exclude 'write "compares", "matches" or "reaches"' '\b(?:meets|met)\b'
exclude 'write "our own" or name the kernels' '\bthe own\b|\bown loops\b'
exclude 'write "because there is no"' '\bfor want of\b'
exclude 'say which' '\band the like\b|\bits like\b'
exclude 'write "except for"' '\bbut for\b'
exclude 'write "as in PyTorch"' '\bas \w+ (?:has|have) it\b'
exclude 'write "reports", "gets" or "notifies"' '\b(?:is|are|be|was|were) told\b|\bsays? of\b'
exclude 'write "continues"' '\bgo(?:es)? on\b'
exclude 'write "without elements" or "empty"' '\bof nothing\b'
exclude 'write "in parallel", "adjacent" or "together"' '\bside by side\b'
exclude 'name the error or the result' '\bwhat .{0,20}\brounding (?:has lost|loses)\b|\blacks to \d|\bno digits? (?:is|are) lost\b'
exclude 'write "computed in double"' '\b(?:through|by way of) double\b'
exclude 'write "instead of"' '\bin (?:the )?place of\b'
exclude 'write "start"' '\b(?:the|its|their) begin(?= of\b|[.,;])'
exclude 'write "is not"' '(?<![Tt]here )\b(?:is|are) no (?!longer|such)'
exclude 'write "per"' '\bone an? (?:group|tensor|rank|step|row|image)\b'
exclude 'write "without an error", "as before", "anyway"' '\bin silence\b|\bas ever\b|\ball the same\b|\bfor good\b'
exclude 'write "for the same"' '\bthe same of\b'
exclude 'write "has entered" or "has started"' '\bhas come to\b|\bgot to know\b'
exclude 'write "any user" or "every user"' '\b(?:[Ee]very|[Aa]ny)body\b'
exclude 'write "for", "among" or "if"' '^Of (?:equal|several|integers|each|all|one|an?)\b(?! module)'
exclude 'write "folder"' '\brooms? (?:of (?:core|sources)|per family)\b'
exclude 'write "upcast"' '\bwidened (?:to (?:float|double)|operand)'
exclude 'write "has an error of"' '\boff by\b|\bas far off\b'
exclude 'write "correct"' '\bright (?:first|second|gradients?|values?|answers?)\b'
# Not the verb of durations ("takes 3 ms", "takes 0.7 of the time", "takes longer").
exclude 'write "accepts", "uses" or "needs"' \
  '(?<!`|:)\b(?:takes(?! (?:part|place|precedence|effect|ownership|over)\b)|take(?= (?:an?|no|non-\w+|memory|only|any|their)\b))(?!(?:[^.;:]|\.\d){0,60}\b(?:(?<!\x27)m?s|seconds?|minutes?|hours?|times?|longer|long)\b| 0\.\d)'
exclude 'name the dtypes: float16 and bfloat16' \
  '\b16-bit (?:float(?!ing-point number)|type|dtype|number|operand|element of|gradient|weight)|\b(?:in|of|to|with|for) 16 bits\b(?<!types of 16 bits)(?<!weights of 16 bits)'
((failures == 0)) || exit 1
echo "style_test: no excluded wording"
