// SPDX-License-Identifier: Apache-2.0
// Below gallery and map: what can be done with the selection, and the corrections so far.
import { knownTags } from "../model/corrections";
import { counted } from "../model/text";
import { IconButton, Select } from "../component/controls";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";

const kNewPart = "new";

export function EditBar() {
  const { store, edits } = useApp();
  const selected = store.selection.value.size;
  const hasPast = store.corrections.value.past.length > 0 || store.corrections.value.future.length > 0;
  const hint = edits.canCorrect ? "Select images to correct them: drag them to another part, set them aside, pin or tag them."
    : "Select images, or draw a lasso on the map, to look at them or to use them as a set or context.";
  return (
    <div class="edit-bar" role="region" aria-label="Selection and corrections">
      {selected > 0 ? <SelectionTools /> : <p class="hint">{hint}</p>}
      {(edits.count > 0 || hasPast) && edits.canCorrect && <CorrectionTools />}
    </div>
  );
}

function SelectionTools() {
  const { store, scene, edits } = useApp();
  const selection = store.selection.value;
  const parts = scene.scene.value!.parts;
  return (
    <div class="edit-group">
      <strong data-testid="selected">{counted(selection.size, "selected", "selected")}</strong>
      {edits.canCorrect && <>
        <Select label="Move to" value="" onChange={(value) => (value === kNewPart ? edits.moveToNewPart(selection) : edits.move(selection, Number(value)))}
                choices={[{ value: "", title: "Move to …", disabled: true }, ...parts.map((p) => ({ value: String(p.index), title: `${p.index + 1} ${p.name}` })),
                          { value: kNewPart, title: "a new part" }]} />
        <IconButton icon="aside" title="Set aside: in no part" keys="A" text="Set aside" onClick={() => edits.setAside(selection)} />
        <IconButton icon="pin" title="Pin to its part, or unpin" keys="P" text="Pin" onClick={() => edits.pin(selection)} />
        <TagInput /></>}
      {edits.canRerun && <>
        <IconButton icon="link" title="Must stay together" keys="T" text="Together" disabled={selection.size < 2} onClick={() => edits.link(selection, "together")} />
        <IconButton icon="apart" title="Must be apart" keys="X" text="Apart" disabled={selection.size < 2} onClick={() => edits.link(selection, "apart")} /></>}
      {store.source.can.run && <>
        <Select label="Use as" value="" onChange={(value: string) => edits.useSelection(value === "context" ? "context" : "set")}
                choices={[{ value: "", title: "Use as …", disabled: true }, { value: "set", title: "set to split" }, { value: "context", title: "context" }]} /></>}
      <button type="button" class="link-button" onClick={() => edits.select([])}>Clear</button>
    </div>
  );
}

// A tag for the selection: Enter gives it, or takes it back where all have it.
function TagInput() {
  const { store, edits } = useApp();
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.key !== "Enter") return;
    edits.tag(store.selection.value, event.currentTarget.value);
    event.currentTarget.value = "";
  };
  return (
    <label class="tag-input"><span class="unseen">Tag</span>
      <input list="known-tags" placeholder="Tag …" maxLength={60} title="Tag the selection (Enter); the same tag again removes it" onKeyDown={onKeyDown} data-testid="tag" />
      <datalist id="known-tags">{knownTags(edits.now).map((tag) => <option key={tag} value={tag} />)}</datalist>
    </label>
  );
}

function CorrectionTools() {
  const { store, actions, edits } = useApp();
  const history = store.corrections.value;
  return (
    <div class="edit-group corrections">
      <button type="button" class="link-button" onClick={() => { store.dialog.value = "corrections"; }}>{counted(edits.count, "correction")}</button>
      <IconButton icon="undo" title={history.what ? `Undo: ${history.what}` : "Undo"} keys="Ctrl Z" disabled={!history.past.length} onClick={() => edits.undo()} />
      <IconButton icon="redo" title="Redo" keys="Ctrl Shift Z" disabled={!history.future.length} onClick={() => edits.redo()} />
      {edits.canRerun &&
        <button type="button" class="button primary small" disabled={!edits.count || store.isStarting.value} data-testid="rerun" title="Run again from this split, with the corrections as constraints (Shift R)"
                onClick={() => void actions.rerun()}><Icon name="play" size={14} />Run again</button>}
    </div>
  );
}
