// SPDX-License-Identifier: Apache-2.0
// What is specific to this method: exemplars with their members, learned weights, clusters against
// penalty, and the pictures of the run folder (words over an image, basins, patch mosaics, ...).
import { useState } from "preact/hooks";
import { partColor } from "../model/palette";
import { baseName, count, counted } from "../model/text";
import type { Part, RunFile } from "../model/types";
import { Bars, Curve } from "../component/charts";
import { PartMark } from "../component/controls";
import { Dialog } from "../component/dialog";
import { Thumbnail } from "../component/thumbnail";
import { useApp } from "./app_context";
import { DecisionsView } from "./decisions_view";
import { PhrasesView } from "./phrases_view";

const kIntro: Record<string, string> = {
  cac: "Words are samples that look alike and occur in similar surroundings; phrases are groups of the same words.",
  icc: "Each class is split where the difference between its density and that of the other classes has separate basins.",
  exemplar: "Each part is represented by one of its samples, under the given or learned distance.",
  dlgmm: "Image clusters and the words of their patches are learned at the same time.",
  dcp: "Each part is separated from the context by a large margin.",
};

// What the pictures of a run folder show, by the beginning of their names.
const kCaptions: [RegExp, string][] = [
  [/^class_/, "difference between the density of the class and that of the others, its gradient, and the basins: the sub-classes"],
  [/^projections/, "all samples under each projection, coloured by class"],
  [/^clusters/, "one row per cluster, the most certain images first"],
  [/^words/, "each word by the patches nearest to it, the most frequent word first"],
  [/^word_maps/, "the most certain image of each cluster, and beside it the word of every patch"],
  [/^overlay_/, "words at the end, then phrases at the start, after one round and at the end"],
];
const captionOf = (name: string) => kCaptions.find(([pattern]) => pattern.test(name))?.[1];

const isImage = (name: string) => /\.(png|svg|jpe?g|webp)$/i.test(name);

export function MethodView() {
  const { store } = useApp();
  const { detail } = store.opened.value!;
  const { extras } = detail;
  const pictures = detail.files.filter((f) => isImage(f.name) && store.source.fileUrl(detail.id, f.name));
  const others = detail.files.filter((f) => !isImage(f.name) && store.source.fileUrl(detail.id, f.name));
  return (
    <section class="method-view" aria-label={`Inside ${detail.method}`}>
      {kIntro[detail.method] && <p class="lead">{kIntro[detail.method]}</p>}
      <DecisionsView />
      {!!extras?.phrases?.length && <PhrasesView />}
      {"subclasses" in detail.summary && <BeforeAfter />}
      {!!extras?.exemplars?.length && <Exemplars rows={extras.exemplars} />}
      {!!extras?.weights?.length && <section class="block"><h2>Learned weights</h2>
        <p class="hint">How much each candidate counts in the learned distance: its share of the mean distance, largest first.</p>
        <Bars label="Learned weights" items={extras.weights.map((w) => ({ name: w.name, value: w.weight }))} /></section>}
      {!!extras?.penalty_curve?.length && <section class="block"><h2>Number of clusters against penalty</h2>
        <Curve label="Clusters against penalty" xTitle="penalty" yTitle="clusters" isStep points={extras.penalty_curve.map(([x, y]) => ({ x, y }))} /></section>}
      {pictures.length > 0 && <FilePictures files={pictures} />}
      {others.length > 0 && <section class="block"><h2>Files</h2><ul class="file-list">
        {others.map((f) => <li key={f.name}><a href={store.source.fileUrl(detail.id, f.name)!} target="_blank" rel="noopener">{f.title || f.name}</a></li>)}</ul></section>}
      {pictures.length + others.length === 0 && !extras && !store.opened.value!.columns.decisions && <p class="hint">This method has nothing further to show.</p>}
    </section>
  );
}

// Classes before, their sub-classes after.
function BeforeAfter() {
  const { store, edits } = useApp();
  const { parts } = store.opened.value!.detail;
  const classes = store.collection.value!.classes.map((c) => c.name)
    .map((name) => ({ name, parts: parts.filter((p) => p.classes[0]?.[0] === name) })).filter((c) => c.parts.length > 0);
  if (!classes.length) return null;
  const show = (index: number) => { edits.emphasise(index, true); store.view.value = "look"; };
  return (
    <section class="block">
      <h2>Classes before and after</h2>
      <div class="table-box" tabIndex={0} role="region" aria-label="Classes before and after">
        <table class="table before-after">
          <thead><tr><th scope="col">Class</th><th scope="col">Rows</th><th scope="col">Sub-classes</th></tr></thead>
          <tbody>
            {classes.map((c) => (
              <tr key={c.name}>
                <th scope="row">{c.name}</th>
                <td class="number">{count(c.parts.reduce((sum, p) => sum + p.size, 0))}</td>
                <td><span class="sub-classes">{c.parts.map((p) => (
                  <button type="button" key={p.index} class="legend-item" aria-label={`Show ${p.name}, ${counted(p.size, "row")}`} onClick={() => show(p.index)}>
                    <PartMark index={p.index} color={partColor(p.index, store.isDark.value)} /><span class="legend-count">{count(p.size)}</span>
                  </button>))}</span></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Exemplars({ rows }: { rows: number[] }) {
  const { store, scene, names } = useApp();
  const now = scene.scene.value!;
  const labelOf = (row: number) => now.labels[now.columns.rows.indexOf(row)] ?? -1;
  return (
    <section class="block">
      <h2>Exemplars and their members</h2>
      <ul class="exemplars">
        {rows.map((row) => {
          const part = labelOf(row);
          const members = Array.from(scene.byPart.value[part] ?? [], (i) => now.columns.rows[i]).filter((r) => r !== row);
          return (
            <li key={row} style={{ "--part": partColor(part, store.isDark.value) }}>
              <button type="button" class="exemplar" aria-label={`Exemplar ${names.of(row)}`} onClick={() => { store.image.value = row; }}>
                <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(row, 192) : null} alt="" side={96} text={baseName(names.of(row))} />
              </button>
              <div class="exemplar-members">
                <span class="hint">{now.parts[part]?.name}: {counted(members.length + 1, "member")}</span>
                <div class="exemplar-strip">
                  {members.slice(0, 14).map((r) => (
                    <button type="button" key={r} aria-label={names.of(r)} onClick={() => { store.image.value = r; }}>
                      <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(r, 96) : null} alt="" side={48} text={baseName(names.of(r))} />
                    </button>
                  ))}
                </div>
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

// class_2.png shows the third class, which the reader knows by its name.
function titleOf(file: RunFile, parts: Part[]): string {
  const index = /^class_(\d+)\./.exec(file.name)?.[1];
  const classes = [...new Set(parts.map((p) => p.classes[0]?.[0]))];
  return (index !== undefined && classes[Number(index)]) || file.title || file.name;
}

function FilePictures({ files: listed }: { files: RunFile[] }) {
  const { store } = useApp();
  const files = listed.map((f) => ({ ...f, title: titleOf(f, store.opened.value!.detail.parts) }));
  const { id } = store.opened.value!.detail;
  const [open, setOpen] = useState<RunFile | null>(null);
  return (
    <section class="block">
      <h2>Pictures of the run</h2>
      <ul class="file-pictures">
        {files.map((f) => (
          <li key={f.name}>
            <button type="button" onClick={() => setOpen(f)} aria-label={`Enlarge ${f.title || f.name}`}>
              <img src={store.source.fileUrl(id, f.name)!} alt={f.title || f.name} loading="lazy" />
            </button>
            <span><strong>{f.title || f.name}</strong>{captionOf(f.name) && `: ${captionOf(f.name)}`}</span>
          </li>
        ))}
      </ul>
      {open && <Dialog title={open.title || open.name} class="file-dialog" onClose={() => setOpen(null)}>
        <div class="file-large" tabIndex={0} role="region" aria-label={open.title || open.name}>
          <img src={store.source.fileUrl(id, open.name)!} alt={open.title || open.name} /></div></Dialog>}
    </section>
  );
}
