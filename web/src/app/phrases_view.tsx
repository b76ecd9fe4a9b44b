// SPDX-License-Identifier: Apache-2.0
// The result of cac: words and phrases over the images, phrases with their groups.
import { useEffect, useState } from "preact/hooks";
import { partColor } from "../model/palette";
import { baseName, counted } from "../model/text";
import type { ImageWords } from "../model/types";
import { PartMark, Segmented } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { WordsOver, type WordsShow } from "../component/words_over";
import { messageOf } from "../source/source";
import { useApp } from "./app_context";

const kShownImages = 60;
const kShownGroups = 24;
const kShownMembers = 12;

export function PhrasesView() {
  const { store } = useApp();
  const extras = store.opened.value!.detail.extras!;
  const [phrase, setPhrase] = useState(-1);
  const choose = (value: number) => setPhrase(value === phrase ? -1 : value);
  return (
    <>
      <PhraseList chosen={phrase} onChoose={choose} />
      {!!extras.images?.length && <ImagesWithWords phrase={phrase} />}
      {!!extras.groups?.length && <GroupsOfPhrases phrase={phrase} />}
    </>
  );
}

// How many keypoints, groups or rows a phrase has.
function phraseSizes({ store, scene }: ReturnType<typeof useApp>): number[] {
  const { summary } = store.opened.value!.detail;
  const sizes = summary.keypoint_sizes ?? summary.sizes; // a report by images has both
  if (Array.isArray(sizes)) return sizes.map(Number);
  return scene.byPart.value.map((positions) => positions.length);
}

function PhraseList({ chosen, onChoose }: { chosen: number; onChoose(phrase: number): void }) {
  const app = useApp();
  const { store } = app;
  const { extras, parts } = store.opened.value!.detail;
  const sizes = phraseSizes(app);
  const unit = extras!.images?.length ? "keypoint" : extras!.groups?.length ? "group" : "row";
  return (
    <section class="block">
      <h2>Phrases</h2>
      <ul class="phrases">
        {parts.map((part, i) => (
          <li key={part.index}>
            <button type="button" aria-pressed={chosen === i} onClick={() => onChoose(i)}
                    style={{ "--part": partColor(i, store.isDark.value) }}>
              <span class="phrase-head"><PartMark index={i} color={partColor(i, store.isDark.value)} /><strong>{part.name}</strong>
                <span class="hint">{counted(sizes[i] ?? 0, unit)}</span></span>
              {extras!.phrases![i] && <span class="phrase-words">{extras!.phrases![i].replace(/^phrase \d+ = /, "")}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

// The words of an image, once they are loaded.
export function useImageWords(row: number): { words: ImageWords | null; failure: string } {
  const { store } = useApp();
  const id = store.opened.value?.detail.id ?? "";
  const [state, setState] = useState<{ row: number; words: ImageWords | null; failure: string }>({ row: -1, words: null, failure: "" });
  useEffect(() => {
    let isWanted = row >= 0;
    if (isWanted)
      store.source.imageWords(id, row).then(
        (words) => { if (isWanted) setState({ row, words, failure: "" }); },
        (error) => { if (isWanted) setState({ row, words: null, failure: messageOf(error) }); });
    return () => { isWanted = false; };
  }, [id, row]);
  return state.row === row ? state : { words: null, failure: "" };
}

// One image with its words drawn over it.
export function ImageUnderWords(p: { row: number; show: WordsShow; phrase: number }) {
  const { store, names } = useApp();
  const { words, failure } = useImageWords(p.row);
  if (failure) return <p class="error-text">{failure}</p>;
  if (!words) return <p class="hint">Loading the words …</p>;
  const thumb = store.source.thumb(p.row, 512);
  const url = words.image ?? (thumb && "url" in thumb ? thumb.url : "");
  return <WordsOver url={url} words={words} show={p.show} phrase={p.phrase} isDark={store.isDark.value}
                    label={`${names.of(p.row)}: ${counted(words.words.length, "keypoint")}, shown by their ${p.show}`} />;
}

export const kWordsChoices: { value: WordsShow; title: string }[] = [
  { value: "phrases", title: "Phrases" }, { value: "words", title: "Words" }, { value: "nothing", title: "Image only" }];

function ImagesWithWords({ phrase }: { phrase: number }) {
  const { store, names } = useApp();
  const images = store.opened.value!.detail.extras!.images!;
  const [show, setShow] = useState<WordsShow>("phrases");
  const [row, setRow] = useState(images[0].row);
  const shown = images.slice(0, kShownImages);
  return (
    <section class="block">
      <h2>Words over the images</h2>
      <p class="hint">Each dot is a keypoint. In the gallery an image is listed under the most frequent phrase of its keypoints.
        {images.length > shown.length && ` These are the first ${shown.length} of ${images.length} images; open the others in the gallery.`}</p>
      <Segmented label="Shown over the image" value={show} choices={kWordsChoices} onChange={(value) => setShow(value)} />
      <div class="words-main">
        <ImageUnderWords key={row} row={row} show={show} phrase={phrase} />
        <ul class="words-strip" aria-label="Images">
          {shown.map((image) => (
            <li key={image.row}>
              <button type="button" aria-pressed={image.row === row} aria-label={`${names.of(image.row)}, ${counted(image.words, "keypoint")}`}
                      onClick={() => setRow(image.row)}>
                <Thumbnail thumb={store.source.thumb(image.row, 96)} alt="" side={64} text={baseName(names.of(image.row))} />
              </button>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function GroupsOfPhrases({ phrase }: { phrase: number }) {
  const { store, edits, names } = useApp();
  const { extras, parts } = store.opened.value!.detail;
  const shown = parts.filter((p) => phrase < 0 || p.index === phrase);
  return (
    <section class="block">
      <h2>Groups of {phrase < 0 ? "each phrase" : parts[phrase]?.name}</h2>
      <p class="hint">Click a group to select its rows in the gallery and on the map. A row is listed under the most frequent phrase of its groups.</p>
      {shown.map((part) => {
        const groups = extras!.groups!.filter((g) => g.phrase === part.index);
        return (
          <div key={part.index} class="phrase-groups" style={{ "--part": partColor(part.index, store.isDark.value) }}>
            <h3><PartMark index={part.index} color={partColor(part.index, store.isDark.value)} /> {part.name}: {counted(groups.length, "group")}</h3>
            <ul>
              {groups.slice(0, kShownGroups).map((group) => (
                <li key={group.name}>
                  <button type="button" onClick={() => { edits.select(group.rows); store.view.value = "look"; }}>
                    <span class="group-name">{group.name}, {counted(group.rows.length, "row")}</span>
                    <span class="exemplar-strip">
                      {store.collection.value!.has_images && group.rows.slice(0, kShownMembers).map((row) => (
                        <Thumbnail key={row} thumb={store.source.thumb(row, 96)} alt="" side={36} text={baseName(names.of(row))} />))}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {groups.length > kShownGroups && <p class="hint">and {groups.length - kShownGroups} more</p>}
          </div>
        );
      })}
    </section>
  );
}
