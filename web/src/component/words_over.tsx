// SPDX-License-Identifier: Apache-2.0
// An image with its keypoints: each a dot in the colour of its word, or the groups of one phrase as
// a common halo.
import { partColor } from "../model/palette";
import type { ImageWords } from "../model/types";

export type WordsShow = "phrases" | "words" | "nothing";

export function WordsOver(p: {
  url: string; words: ImageWords; show: WordsShow; phrase: number; isDark: boolean; label: string; // phrase -1: all
}) {
  const { width, height, places, words, phrases } = p.words;
  const long = Math.max(width, height);
  const dot = long / 130, halo = long / 32;
  const isLit = (i: number) => p.phrase < 0 || phrases[i] === p.phrase;
  const all = p.show === "nothing" ? [] : Array.from(words.keys());
  const lit = all.filter(isLit), dim = all.filter((i) => !isLit(i));
  const at = (i: number) => ({ cx: places[2 * i], cy: places[2 * i + 1] });
  const groups = p.show === "phrases" ? [...new Set(lit.map((i) => phrases[i]))].sort((a, b) => a - b) : [];
  return (
    <svg class="words-over" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={p.label} data-words={lit.length}>
      <image href={p.url} width={width} height={height} />
      {groups.map((phrase) => (
        <g key={phrase} opacity={0.34} fill={partColor(phrase, p.isDark)}>
          {lit.filter((i) => phrases[i] === phrase).map((i) => <circle key={i} {...at(i)} r={halo} />)}
        </g>
      ))}
      {dim.map((i) => <circle key={i} {...at(i)} r={dot * 0.7} fill="#808080" opacity={0.6} />)}
      {lit.map((i) => <circle key={i} {...at(i)} r={dot} fill={partColor(p.show === "words" ? words[i] : phrases[i], p.isDark)}
                              stroke="#fff" stroke-width={dot * 0.35} />)}
    </svg>
  );
}
