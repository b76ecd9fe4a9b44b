// SPDX-License-Identifier: Apache-2.0
// Small controls: icon button, choice of a few, name edited in place, stepper, empty state.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { inkOn } from "../model/palette";
import { Icon, type IconName } from "./icon";

interface IconButtonProps {
  icon: IconName;
  title: string;
  onClick(event: MouseEvent): void;
  pressed?: boolean;
  disabled?: boolean;
  keys?: string; // shown in the tip
  class?: string;
  text?: string; // beside the icon
  testId?: string;
}

export function IconButton(p: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${p.text ? "has-text" : ""} ${p.class ?? ""}`}
            title={p.keys ? `${p.title} (${p.keys})` : p.title} aria-label={p.title}
            aria-pressed={p.pressed} disabled={p.disabled} onClick={p.onClick} data-testid={p.testId}>
      <Icon name={p.icon} />{p.text && <span>{p.text}</span>}
    </button>
  );
}

interface Choice<T> { value: T; title: string; icon?: IconName; disabled?: boolean }

// A row of which one is chosen.
export function Segmented<T extends string>(p: {
  label: string; value: T; choices: Choice<T>[]; onChange(value: T): void; isIconOnly?: boolean;
}) {
  return (
    <div class="segmented" role="group" aria-label={p.label}>
      {p.choices.map((c) => (
        <button type="button" key={c.value} aria-pressed={c.value === p.value} disabled={c.disabled}
                title={c.title} aria-label={c.title} onClick={() => p.onChange(c.value)}>
          {c.icon && <Icon name={c.icon} size={16} />}{!p.isIconOnly && <span>{c.title}</span>}
        </button>
      ))}
    </div>
  );
}

export function Select<T extends string>(p: {
  label: string; value: T; choices: Choice<T>[]; onChange(value: T): void; isLabelShown?: boolean; id?: string;
}) {
  // Shows what holds, not what was asked for: some choices only open something.
  const choose = (event: Event & { currentTarget: HTMLSelectElement }) => {
    const chosen = event.currentTarget.value as T;
    event.currentTarget.value = p.value;
    p.onChange(chosen);
  };
  return (
    <label class="select">
      <span class={p.isLabelShown ? "select-label" : "unseen"}>{p.label}</span>
      <select id={p.id} value={p.value} onChange={choose} title={p.label}>
        {p.choices.map((c) => <option key={c.value} value={c.value} disabled={c.disabled}>{c.title}</option>)}
      </select>
    </label>
  );
}

// A text that turns into an input when its pencil is pressed. Enter keeps, Escape leaves.
export function EditableText(p: { value: string; label: string; onChange(value: string): void; disabled?: boolean; mayBeEmpty?: boolean; class?: string }) {
  const [isEditing, setEditing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => { if (isEditing) input.current?.select(); }, [isEditing]);
  const finish = (isKept: boolean) => {
    if (!input.current) return;  // Enter was there first: the input loses the focus as it goes
    const value = input.current.value.trim();
    setEditing(false);
    if (isKept && (value || p.mayBeEmpty) && value !== p.value) p.onChange(value);
    requestAnimationFrame(() => button.current?.focus());
  };
  if (p.disabled) return <span class={`editable ${p.class ?? ""}`} title={p.value}>{p.value}</span>;
  if (!isEditing)
    return (
      <button type="button" ref={button} class={`editable ${p.class ?? ""}`} title={`${p.label}: ${p.value}`}
              aria-label={`${p.label}: ${p.value}`} onClick={() => setEditing(true)}>
        <span>{p.value}</span><Icon name="edit" size={13} />
      </button>
    );
  return (
    <input ref={input} class={`editable-input ${p.class ?? ""}`} defaultValue={p.value} aria-label={p.label} maxLength={80}
           onKeyDown={(event) => {
             event.stopPropagation();
             if (event.key === "Enter") finish(true);
             if (event.key === "Escape") finish(false);
           }}
           onBlur={() => isEditing && finish(true)} />
  );
}

// `value` null: none is chosen yet.
export function Stepper(p: { label: string; value: number | null; min: number; max: number; onChange(value: number): void; id?: string }) {
  const set = (value: number) => {
    if (Number.isFinite(value)) p.onChange(Math.min(p.max, Math.max(p.min, Math.round(value))));
  };
  const now = p.value ?? p.min - 1;
  return (
    <div class="stepper">
      <button type="button" aria-label={`Fewer: ${p.label}`} disabled={now <= p.min} onClick={() => set(now - 1)}><Icon name="minus" size={14} /></button>
      <input id={p.id} type="number" inputMode="numeric" aria-label={p.label} min={p.min} max={p.max} value={p.value ?? ""} placeholder="–"
             onChange={(event) => { if (event.currentTarget.value) set(Number(event.currentTarget.value)); }} />
      <button type="button" aria-label={`More: ${p.label}`} disabled={now >= p.max} onClick={() => set(now + 1)}><Icon name="plus" size={14} /></button>
    </div>
  );
}

export function Empty(p: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={p.icon} size={36} />
      <h2>{p.title}</h2>
      <div class="empty-text">{p.children}</div>
    </div>
  );
}

export function Spinner({ text }: { text: string }) {
  return <div class="spinner-box" role="status"><span class="spinner" aria-hidden="true" /><span>{text}</span></div>;
}

// A number of a part on its colour: parts are never identified by colour alone.
export function PartMark({ index, color }: { index: number; color: string }) {
  return <span class="part-mark" style={{ background: color, color: inkOn(color) }} aria-hidden="true">{index + 1}</span>;
}
