// SPDX-License-Identifier: Apache-2.0
// Chooses a set of rows: classes as chips, a selection, or everything else.
import { useId, useMemo, useState } from "preact/hooks";
import { isSameRows, looseRows } from "../model/rows";
import { count, counted } from "../model/text";
import type { RowSet } from "../model/types";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";

interface PickerProps {
  title: string;
  hint: string;
  value: RowSet;
  size: number;
  taken: RowSet; // classes that are in the other set
  restTitle: string; // of the chip for all rows that are not in the other set; "": there is none
  onChange(value: RowSet): void;
}

const kFilterFrom = 12;

export function RowSetPicker(p: PickerProps) {
  const { store } = useApp();
  const [filter, setFilter] = useState("");
  const id = useId();
  const all = store.collection.value!.classes;
  const chosen = new Set(p.value.classes);
  const taken = new Set(p.taken.classes);
  const loose = useMemo(() => looseRows(store.classes.value, store.collection.value!), [store.classes.value]);
  const isLoose = loose.length > 0 && isSameRows(p.value.rows, loose);
  const shown = all.filter((c) => c.name.toLowerCase().includes(filter.toLowerCase()));
  const toggle = (name: string) => {
    const next = chosen.has(name) ? all.filter((c) => c.name !== name && chosen.has(c.name))
      : all.filter((c) => c.name === name || chosen.has(c.name));
    p.onChange(next.length ? { classes: next.map((c) => c.name) } : {});
  };
  return (
    <fieldset class="picker" aria-describedby={`${id}-hint`}>
      <legend>{p.title}<span class="picker-size">{p.size ? counted(p.size, "row") : ""}</span></legend>
      <p class="hint" id={`${id}-hint`}>{p.hint}</p>
      {all.length > kFilterFrom &&
        <input class="filter" type="search" placeholder={`Find among ${all.length} classes`} aria-label={`Find a class: ${p.title}`}
               value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />}
      <div class="chips">
        {p.restTitle && <Chip isOn={!!p.value.rest} title={p.restTitle} onClick={() => p.onChange(p.value.rest ? {} : { rest: true })} />}
        {shown.map((c) => (
          <Chip key={c.name} isOn={chosen.has(c.name)} title={c.name} size={c.count}
                isTaken={taken.has(c.name)} onClick={() => toggle(c.name)} />
        ))}
        {loose.length > 0 &&
          <Chip isOn={isLoose} title="No class" size={loose.length} isTaken={isSameRows(p.taken.rows, loose)}
                onClick={() => p.onChange(isLoose ? {} : { rows: loose })} />}
        {p.value.rows && !isLoose &&
          <Chip isOn title="Selection" size={p.value.rows.length} onClick={() => p.onChange({})} />}
      </div>
    </fieldset>
  );
}

function Chip(p: { isOn: boolean; title: string; size?: number; isTaken?: boolean; onClick(): void }) {
  return (
    <button type="button" class="chip" aria-pressed={p.isOn} disabled={p.isTaken && !p.isOn} onClick={p.onClick}
            title={p.isTaken ? `${p.title} is in the other set` : p.title}>
      {p.isOn && <Icon name="check" size={13} />}<span class="chip-name">{p.title}</span>
      {p.size !== undefined && <span class="chip-size">{count(p.size)}</span>}
    </button>
  );
}
