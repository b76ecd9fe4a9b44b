// SPDX-License-Identifier: Apache-2.0
// By what the images are described: a choice among the features that are kept, and a dialog to add
// others. Runs, maps and "more like this" go by the chosen one.
import { useState } from "preact/hooks";
import { counted } from "../model/text";
import type { Features } from "../model/types";
import { Select } from "../component/controls";
import { Dialog } from "../component/dialog";
import { useApp } from "./app_context";

const kAnother = "+";

export function FeaturePicker() {
  const { store, spaces } = useApp();
  const { known, kept } = store.features.value;
  const collection = store.collection.value!;
  if (!known.length) return null;
  const ready = kept.filter((one) => one.state === "done" || one.state === "none");
  const running = kept.filter((one) => one.state === "running");
  const choose = (value: string) => {
    if (value === kAnother) store.dialog.value = "features";
    else void spaces.choose(value);
  };
  return (
    <section class="feature-picker" aria-label="Feature">
      <Select label="Feature" isLabelShown value={store.feature.value} onChange={choose}
              choices={[{ value: "", title: collection.feature || "given vectors" }, ...ready.map((one) => ({ value: one.feature, title: one.feature })),
                        { value: kAnother, title: "another …" }]} />
      {running.map((one) => <Describing key={one.feature} one={one} />)}
    </section>
  );
}

function Describing({ one }: { one: Features["kept"][number] }) {
  const { spaces } = useApp();
  const share = one.total > 0 ? Math.round((one.done / one.total) * 100) : 0;
  return (
    <p class="hint describing" data-testid="describing">
      <span>{one.feature}: {one.total > 0 ? `${one.done} of ${counted(one.total, "image")}` : "starting"}</span>
      <span class="progress-bar" role="progressbar" aria-label={`Describing by ${one.feature}`} aria-valuemin={0} aria-valuemax={100} aria-valuenow={share}>
        <span style={{ width: `${share}%` }} /></span>
      <button type="button" class="link-button" onClick={() => void spaces.remove(one.feature)}>Cancel</button>
    </p>
  );
}

export function FeatureDialog() {
  const { store, spaces } = useApp();
  const [text, setText] = useState("");
  const { known, kept } = store.features.value;
  const isKept = (feature: string) => kept.some((one) => one.feature === feature && one.state !== "failed" && one.state !== "cancelled");
  const close = () => { store.dialog.value = ""; };
  const add = (feature: string) => { close(); void spaces.add(feature); };
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim()) add(text.trim());
  };
  return (
    <Dialog title="Describe the images by another feature" class="features-dialog" onClose={close}>
      <p class="hint">Every feature is computed once and kept. Runs, maps and “More like this” go by the one that is chosen.</p>
      <form class="feature-text" onSubmit={submit}>
        <label>A list with options, or a network: <input type="text" value={text} placeholder="gist,color or onnx:FILE" data-testid="feature-text"
          onInput={(event) => setText(event.currentTarget.value)} /></label>
        <button type="submit" class="button" disabled={!text.trim()}>Describe</button>
      </form>
      <ul class="feature-list">
        {kept.map((one) => (
          <li key={one.feature}><strong>{one.feature}</strong>
            <span class={one.error ? "problem" : "hint"}>{one.error ?? (one.d ? counted(one.d, "dimension") : one.state === "none" ? "kept" : one.state)}</span>
            <button type="button" class="button small" aria-label={`Remove ${one.feature}`} onClick={() => void spaces.remove(one.feature)}>Remove</button></li>
        ))}
        {known.filter((one) => !isKept(one.feature) && one.feature !== store.collection.value!.feature).map((one) => (
          <li key={one.feature}><strong>{one.feature}</strong><span class="hint">{one.summary}</span>
            <button type="button" class="button small" aria-label={`Describe by ${one.feature}`} onClick={() => add(one.feature)}>Describe</button></li>
        ))}
      </ul>
    </Dialog>
  );
}
