// SPDX-License-Identifier: Apache-2.0
// Selecting and correcting.
import { addPart, correctionCount, freeRows, goTo, kSetAside, linkRows, moveRows, record, redo, toggleTag, undo,
         type Corrections } from "../model/corrections";
import { needsContext } from "../model/form";
import { counted } from "../model/text";
import type { RowSet } from "../model/types";
import type { SelectMode } from "../component/map/map_controller";
import type { Actions } from "./actions";
import type { SceneSignals } from "./scene";
import type { Store } from "./store";

export class Edits {
  constructor(private readonly store: Store, private readonly scene: SceneSignals,
              private readonly actions: Actions) {}

  // Whether labels can be changed by hand: those of every method, where they can be kept.
  get canCorrect(): boolean {
    const opened = this.store.opened.value;
    return !!opened && this.store.source.can.run && !opened.detail.rank_contexts && !opened.detail.edits_problem;
  }

  // Whether the method can take the corrections as constraints and run again.
  get canRerun(): boolean {
    const method = this.store.opened.value?.detail.method;
    return this.canCorrect && !!this.store.methods.value.find((m) => m.name === method)?.takes_constraints;
  }

  select(rows: Iterable<number>, mode: SelectMode = "replace"): void {
    const next = mode === "replace" ? new Set<number>() : new Set(this.store.selection.value);
    for (const row of rows) {
      if (mode === "remove") next.delete(row);
      else next.add(row);
    }
    if (next.size === 0 && this.store.selection.value.size === 0) return;
    this.store.selection.value = next;
    this.actions.announce(next.size ? `${counted(next.size, "row")} selected` : "Nothing selected");
  }

  toggle(row: number): void {
    this.select([row], this.store.selection.value.has(row) ? "remove" : "add");
  }

  selectPart(part: number): void {
    this.select(this.rowsOfPart(part));
  }

  selectAll(): void {
    const scene = this.scene.scene.value;
    if (scene) this.select(scene.columns.rows);
  }

  emphasise(part: number, isOnly: boolean): void {
    const now = this.store.emphasised.value;
    const without = now.filter((p) => p !== part);
    if (isOnly) this.store.emphasised.value = now.length === 1 && now[0] === part ? [] : [part];
    else this.store.emphasised.value = without.length < now.length ? without : [...now, part];
  }

  // Uses the selection as the set or the context.
  useSelection(as: "set" | "context"): void {
    const rows = [...this.store.selection.value].sort((a, b) => a - b);
    if (rows.length === 0) return;
    const value: RowSet = { rows };
    if (as === "set") this.store.set.value = value;
    else this.store.context.value = value;
    this.actions.toast(`${counted(rows.length, "row")} chosen as the ${as === "set" ? "set to split" : "context"}.`);
    this.store.isPanelOpen.value = true;
  }

  // Prepares a run that splits a part against all other images.
  splitAgainstRest(part: number): void {
    const { methods, methodName, set, context, isPanelOpen } = this.store;
    const method = methods.value.find(needsContext);
    const rows = this.rowsOfPart(part).sort((a, b) => a - b);
    if (!method || !rows.length) return;
    methodName.value = method.name;
    set.value = { rows };
    context.value = { rest: true };
    isPanelOpen.value = true;
    this.actions.toast(`${counted(rows.length, "image")} to split, all others as context: press Run.`);
  }

  move(rows: Iterable<number>, part: number): void {
    const list = this.known(rows);
    if (part === kSetAside) return this.setAside(list);
    const name = this.scene.scene.value?.parts[part]?.name;
    if (!list.length || name === undefined) return;
    this.change(moveRows(this.now, list, part), `${counted(list.length, "image")} to ${name}`);
  }

  setAside(rows: Iterable<number>): void {
    const list = this.known(rows);
    if (list.length) this.change(moveRows(this.now, list, kSetAside), `${counted(list.length, "image")} set aside`);
  }

  moveToNewPart(rows: Iterable<number>): void {
    const list = this.known(rows);
    const part = this.scene.scene.value?.parts.length;
    if (!list.length || part === undefined) return;
    this.change(moveRows(addPart(this.now), list, part), `${counted(list.length, "image")} to a new part`);
  }

  merge(part: number, into: number): void {
    const scene = this.scene.scene.value;
    const from = scene?.parts[part]?.name, to = scene?.parts[into]?.name;
    if (!scene || from === undefined || to === undefined || part === into) return;
    this.change(moveRows(this.now, this.rowsOfPart(part), into), `${from} merged into ${to}`);
  }

  tag(rows: Iterable<number>, tag: string): void {
    const list = this.known(rows), name = tag.trim().slice(0, 60);
    if (list.length && name) this.change(toggleTag(this.now, list, name), `tag ${name} on ${counted(list.length, "image")}`);
  }

  rowsOfPart(part: number): number[] {
    const rows = this.scene.scene.value?.columns.rows;
    const positions = part < 0 ? this.scene.unplaced.value : this.scene.byPart.value[part];
    return rows && positions ? Array.from(positions, (i) => rows[i]) : [];
  }

  pin(rows: Iterable<number>): void {
    const scene = this.scene.scene.value;
    if (!scene) return;
    const wanted = new Set(rows);
    const isPinned = [...wanted].every((row) => this.now.memberships.has(row));
    if (isPinned) return this.free(wanted);
    let next = this.now;
    scene.columns.rows.forEach((row, i) => {
      if (wanted.has(row) && scene.labels[i] >= 0) next = moveRows(next, [row], scene.labels[i]);
    });
    this.change(next, `${counted(wanted.size, "image")} pinned`);
  }

  free(rows: Iterable<number>): void {
    const list = [...rows];
    this.change(freeRows(this.now, list), `${counted(list.length, "image")} unpinned`);
  }

  link(rows: Iterable<number>, kind: "together" | "apart"): void {
    if (!this.canRerun) return;
    const list = this.known(rows);
    if (list.length < 2) {
      this.actions.toast(`Select at least two images to keep them ${kind}.`);
      return;
    }
    if (kind === "apart" && list.length > 6) {
      this.actions.toast("Select at most six images to keep them apart.");
      return;
    }
    this.change(linkRows(this.now, list, kind), `${counted(list.length, "image")} ${kind}`);
  }

  replaceAll(next: Corrections, what: string): void { this.change(next, what); }

  undo(): void {
    const before = this.store.corrections.value;
    this.store.corrections.value = undo(before);
    if (before.past.length) this.actions.announce(`Undone: ${before.what}`);
  }

  // Back, or forward, to what held after this many steps.
  goTo(steps: number): void {
    this.store.corrections.value = goTo(this.store.corrections.value, steps);
    this.actions.announce(steps ? `After: ${this.store.corrections.value.what}` : "Before all corrections");
  }

  redo(): void { this.store.corrections.value = redo(this.store.corrections.value); }

  get count(): number { return correctionCount(this.now); }
  get now(): Corrections { return this.store.corrections.value.now; }

  private known(rows: Iterable<number>): number[] {
    if (!this.canCorrect) return [];
    const inside = new Set(this.scene.scene.value?.columns.rows);
    return [...rows].filter((row) => inside.has(row));
  }

  private change(next: Corrections, what: string): void {
    if (!this.canCorrect) return;
    this.store.corrections.value = record(this.store.corrections.value, next, what);
    this.actions.announce(what);
  }
}
