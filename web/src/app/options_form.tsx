// SPDX-License-Identifier: Apache-2.0
// The options of a method, from its declared fields.
import { useId, useState } from "preact/hooks";
import { changedOptions, parseValue, problemOf, rangeOf, shownFields } from "../model/form";
import { label } from "../model/text";
import type { Field, Value } from "../model/types";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";

export function OptionsForm() {
  const { store } = useApp();
  const method = store.method.value;
  if (!method) return null;
  const basic = shownFields(method, false);
  const advanced = shownFields(method, true);
  const changed = changedOptions(method, store.options.value);
  const numChanged = [...basic, ...advanced].filter((f) => f.name in changed).length;
  if (!basic.length && !advanced.length) return null;
  return (
    <details class="options">
      <summary><Icon name="right" size={14} />Options{numChanged > 0 && <span class="badge">{numChanged} changed</span>}</summary>
      {numChanged > 0 &&
        <button type="button" class="link-button" onClick={() => { store.options.value = pick(store.options.value, ["num_clusters"]); }}>
          Reset to the defaults
        </button>}
      {basic.map((field) => <FieldInput key={`${method.name}.${field.name}`} field={field} />)}
      {advanced.length > 0 &&
        <details class="options advanced">
          <summary><Icon name="right" size={14} />Advanced</summary>
          {advanced.map((field) => <FieldInput key={`${method.name}.${field.name}`} field={field} />)}
        </details>}
    </details>
  );
}

function pick(values: Record<string, Value>, names: string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

function FieldInput({ field }: { field: Field }) {
  const { store } = useApp();
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const value = store.options.value[field.name] ?? field.default;
  const problem = problemOf(field, value);
  const set = (next: Value) => {
    const options = { ...store.options.value };
    if (next === field.default) delete options[field.name];
    else options[field.name] = next;
    store.options.value = options;
  };
  const range = rangeOf(field);
  const about = { "aria-describedby": `${id}-help`, "aria-invalid": problem ? true : undefined };
  const input = field.kind === "flag"
    ? <input id={id} type="checkbox" checked={value === true} onChange={(event) => set(event.currentTarget.checked)} {...about} />
    : field.kind === "choice"
      ? <select id={id} value={String(value)} onChange={(event) => set(event.currentTarget.value)} {...about}>
          {field.choices.map((c) => <option key={c}>{c}</option>)}
        </select>
      : <input id={id} type="text" inputMode={field.kind === "text" ? undefined : "decimal"} value={draft ?? String(value)} {...about}
               onInput={(event) => { setDraft(event.currentTarget.value); set(parseValue(field, event.currentTarget.value)); }}
               onBlur={() => setDraft(null)} />;
  return (
    <div class={`field field-${field.kind} ${value !== field.default ? "is-changed" : ""}`}>
      <label for={id}>{label(field.name)}</label>
      {input}
      <p class="hint" id={`${id}-help`}>{problem ? <span class="problem">{problem}</span> : <>{field.help}{range && ` (${range})`}</>}</p>
    </div>
  );
}
