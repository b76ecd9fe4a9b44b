// SPDX-License-Identifier: Apache-2.0
// Images near the one that is enlarged: the exemplars or context images most like it, which say why
// it is in its part, and those most like it in the whole collection.
import { useEffect, useState } from "preact/hooks";
import { partColor } from "../model/palette";
import { baseName, number } from "../model/text";
import type { NearRows } from "../model/types";
import { PartMark } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { useApp, type App } from "./app_context";

const kAlike = 12;
const kReasons = 6; // exemplars, context images

// What the server answers about a row; null until it does.
function useAnswer<T>(ask: () => Promise<T>, row: number): T | null {
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(() => {
    let isHere = true;
    ask().then((given) => { if (isHere) setAnswer(given); }, () => undefined);
    return () => { isHere = false; };
  }, [row]);
  return answer;
}

function partText({ scene }: App, row: number): string {
  const now = scene.scene.value!;
  const position = now.columns.rows.indexOf(row);
  return position < 0 ? (now.isRun ? ", context or outside" : "") : `, ${now.parts[now.labels[position]]?.name ?? "in no part"}`;
}

function NearStrip({ near, isMarked }: { near: NearRows; isMarked?: boolean }) {
  const app = useApp();
  const { store, scene, names } = app;
  const partOf = (row: number) => scene.scene.value!.labels[scene.scene.value!.columns.rows.indexOf(row)] ?? -1;
  const mark = (row: number) => (isMarked && partOf(row) >= 0 ? <PartMark index={partOf(row)} color={partColor(partOf(row), store.isDark.value)} /> : null);
  return (
    <div class="alike">
      {near.rows.map((other, i) => {
        const text = names.of(other) + partText(app, other);
        return (
          <button type="button" key={other} title={`${text}, distance ${number(near.distances[i], 3)}`} aria-label={text}
                  onClick={() => { store.image.value = other; }}>
            <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(other, 96) : null} alt="" side={64} text={baseName(names.of(other))} />
            {mark(other)}
          </button>);
      })}
    </div>
  );
}

// Why the image is in its part: the exemplars or the context images nearest to it, where the run has some.
export function ReasonImages({ row }: { row: number }) {
  const { store } = useApp();
  const isExemplar = store.opened.value!.detail.extras?.exemplars?.includes(row);
  const answer = useAnswer(() => store.source.near(store.opened.value!.detail.id, row, kReasons), row);
  return (
    <>
      {isExemplar && <p>It is the exemplar of its part.</p>}
      {!!answer?.exemplars.rows.length && <section aria-label="Nearest exemplars"><h3>{isExemplar ? "Nearest other exemplars" : "Nearest exemplars"}</h3><NearStrip near={answer.exemplars} isMarked /></section>}
      {!!answer?.context.rows.length && <section aria-label="Nearest context images"><h3>Nearest context images</h3><NearStrip near={answer.context} /></section>}
    </>
  );
}

// More like this: the nearest rows by the chosen feature.
export function AlikeImages({ row }: { row: number }) {
  const { store, edits } = useApp();
  const alike = useAnswer(() => store.source.like(row, kAlike, store.feature.value), row);
  if (!alike?.rows.length) return null;
  const select = () => { edits.select([row, ...alike.rows]); store.image.value = -1; };
  return (
    <section aria-label="More like this">
      <h3>More like this <button type="button" class="link-button" onClick={select}>select them</button></h3>
      <NearStrip near={alike} />
    </section>
  );
}
