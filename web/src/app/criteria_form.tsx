// SPDX-License-Identifier: Apache-2.0
// Which images are shown: a name or tag to find, and behind a button the other criteria.
import { knownTags } from "../model/corrections";
import { criteriaCount, kNoCriteria, type Criteria, type Range } from "../model/criteria";
import { count } from "../model/text";
import { useApp } from "./app_context";

export function FindField() {
  const { store, spaces } = useApp();
  const criteria = store.criteria.value;
  return (
    <label class="find"><span class="unseen">Find by name or tag</span>
      <input type="search" placeholder="Find by name or tag" value={criteria.text} data-testid="find"
             onInput={(event) => spaces.limit({ ...criteria, text: event.currentTarget.value })} /></label>
  );
}

export function CriteriaForm() {
  const { store, scene, spaces, edits } = useApp();
  const criteria = store.criteria.value;
  const set = (change: Partial<Criteria>) => spaces.limit({ ...criteria, ...change });
  const given = criteriaCount(criteria);
  const classes = store.collection.value!.classes;
  const tags = knownTags(edits.now);
  const hasFiles = store.source.can.spaces && store.collection.value!.kind === "images";
  const hasMargins = !!scene.scene.value?.columns.margins;
  if (!classes.length && !tags.length && !hasFiles && !hasMargins) return null;
  return (
    <details class="criteria">
      <summary data-testid="criteria">Filter{given > 0 && <span class="badge">{given}</span>}</summary>
      <div class="criteria-fields">
        {classes.length > 0 && <fieldset><legend>Class</legend><div class="criteria-classes">
          {classes.map((c) => (
            <label class="check" key={c.name}><input type="checkbox" checked={criteria.classes.includes(c.name)}
              onChange={() => set({ classes: toggled(criteria.classes, c.name) })} />{c.name}</label>))}</div></fieldset>}
        {tags.length > 0 && <label class="criteria-line">Tag
          <select value={criteria.tag} onChange={(event) => set({ tag: event.currentTarget.value })}>
            <option value="">any</option>{tags.map((tag) => <option key={tag}>{tag}</option>)}</select></label>}
        {hasMargins && <RangeFields title="Margin" unit="" value={criteria.margin} onChange={(margin) => set({ margin })} />}
        {hasFiles && <RangeFields title="Size" unit=" in kB" value={criteria.kilobytes} onChange={(kilobytes) => set({ kilobytes })} />}
        {hasFiles && <fieldset class="criteria-range"><legend>Date of the file</legend>
          <input type="date" aria-label="Date, from" value={criteria.dates.from} onChange={(event) => set({ dates: { ...criteria.dates, from: event.currentTarget.value } })} />
          {" "}to <input type="date" aria-label="Date, to" value={criteria.dates.to} onChange={(event) => set({ dates: { ...criteria.dates, to: event.currentTarget.value } })} /></fieldset>}
      </div>
    </details>
  );
}

const toggled = (list: string[], one: string) => (list.includes(one) ? list.filter((name) => name !== one) : [...list, one]);

function RangeFields(p: { title: string; unit: string; value: Range; onChange(value: Range): void }) {
  const read = (text: string) => (text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text));
  return (
    <fieldset class="criteria-range"><legend>{p.title}{p.unit}</legend>
      <input type="number" step="any" placeholder="from" aria-label={`${p.title}, from`} value={p.value.from ?? ""} onChange={(event) => p.onChange({ ...p.value, from: read(event.currentTarget.value) })} />
      {" "}to <input type="number" step="any" placeholder="to" aria-label={`${p.title}, to`} value={p.value.to ?? ""} onChange={(event) => p.onChange({ ...p.value, to: read(event.currentTarget.value) })} />
    </fieldset>
  );
}

// How many images meet the criteria, and what can be done with them.
export function ShownCount() {
  const { scene, spaces, edits } = useApp();
  const shown = scene.shown.value;
  if (!shown) return null;
  const rows = scene.scene.value!.columns.rows;
  const found = Array.from(rows).filter((_, i) => shown[i]);
  return (
    <span class="shown-count" data-testid="shown">{count(found.length)} of {count(rows.length)}
      <button type="button" class="link-button" disabled={!found.length} onClick={() => edits.select(found)}>Select them</button>
      <button type="button" class="link-button" onClick={() => spaces.limit(kNoCriteria)}>Show all</button></span>
  );
}
