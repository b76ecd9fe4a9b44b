// SPDX-License-Identifier: Apache-2.0
// Should a class be split? A verdict for every class with its evidence, and images of the parts of
// those that should be.
import { batch } from "@preact/signals";
import { adviceOf, adviceRequest, earlierAdvice, gainText, isUnfinished, type ClassAdvice } from "../model/advice";
import { partColor } from "../model/palette";
import { count, counted, number, percent } from "../model/text";
import { Stack } from "../component/charts";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";
import { PartStrip } from "./part_strip";

// The way in: opens the advice for all classes; starts the run if there is none yet.
export function AdviceEntry() {
  const { store, actions } = useApp();
  const request = adviceRequest(store.collection.value!, store.methods.value);
  if (!request) return null;
  const ask = () => {
    const found = earlierAdvice(store.runs.value, request);
    if (!found) return void actions.start(request, true);
    if (store.isNarrow.value) store.isPanelOpen.value = false;
    void actions.open(found.id);
  };
  return (
    <section class="advice-entry" aria-label="Advice on classes">
      <button type="button" class="button" disabled={store.isStarting.value} data-testid="advise" onClick={ask}>
        <Icon name="apart" size={16} />Should a class be split?</button>
      <p class="hint">Judges all {count(request.set.classes!.length)} classes, with the evidence.</p>
    </section>
  );
}

export function AdviceView() {
  const { store } = useApp();
  const { detail } = store.opened.value!;
  const classes = adviceOf(detail);
  const split = classes.filter((one) => one.isSplit);
  return (
    <section class="advice" aria-label="Advice">
      <p class="lead">
        <strong>{adviceSentence(classes)}</strong>
        {isUnfinished(detail) && <span class="is-poor"> The run was stopped early: what it did not reach is not settled.</span>}
      </p>
      <AdviceTable classes={classes} />
      <p class="hint advice-key">
        <strong>p of gap</strong>: how often a class with one mode shows such a gap. <strong>Stability</strong>: samples that land in the same part when
        the cut is learned without them. <strong>Held-out gain</strong>: accuracy with the class split, minus without. <strong>Against</strong>: the class
        that forces the cut, and how many confusions with it end.
      </p>
      {split.map((one) => <ClassParts key={one.name} advice={one} />)}
    </section>
  );
}

function adviceSentence(classes: ClassAdvice[]): string {
  const judged = classes.filter((one) => one.isJudged).length;
  const split = classes.filter((one) => one.isSplit).length;
  if (judged === 0) return "No class was judged.";
  if (split === 0) return "No class needs to be split.";
  return `${count(split)} of ${counted(judged, "judged class", "judged classes")} should be split.`;
}

const sectionId = (advice: ClassAdvice) => `advice-${advice.parts[0]}`;

function showParts(advice: ClassAdvice): void {
  const section = document.getElementById(sectionId(advice));
  section?.scrollIntoView({ block: "start" });
  section?.focus({ preventScroll: true });
}

function AdviceTable({ classes }: { classes: ClassAdvice[] }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Verdicts">
      <table class="table">
        <thead><tr><th scope="col">Class</th><th scope="col">Verdict</th><th scope="col">Size</th><th scope="col">Parts</th>
          <th scope="col">p of gap</th><th scope="col">Stability</th><th scope="col">Held-out gain</th><th scope="col">Against</th></tr></thead>
        <tbody>{classes.map((one) => <AdviceRow key={one.name} advice={one} />)}</tbody>
      </table>
    </div>
  );
}

function AdviceRow({ advice }: { advice: ClassAdvice }) {
  const { store } = useApp();
  const { isSplit, isJudged, parts, sizes } = advice;
  return (
    <tr>
      <th scope="row">{isSplit
        ? <button type="button" class="link-button" aria-label={`Images of the parts of ${advice.name}`} onClick={() => showParts(advice)}>{advice.name}</button>
        : advice.name}</th>
      <td>{isSplit ? <strong>{advice.verdict}</strong> : <span class="hint">{advice.verdict}</span>}</td>
      <td class="number">{count(advice.size)}</td>
      <td class="sizes">{isSplit && <><span>{sizes.map(count).join(" / ")}</span><Stack label={`Sizes of the parts of ${advice.name}`}
        items={parts.map((part, i) => ({ name: `part ${part + 1}`, value: sizes[i], color: partColor(part, store.isDark.value) }))} /></>}</td>
      <td class="number">{isJudged ? number(advice.gapP, 2) : "–"}</td>
      <td class="number">{isSplit ? percent(advice.stability) : "–"}</td>
      <td class="number">{isSplit ? gainText(advice.gain) : "–"}</td>
      <td>{isSplit && advice.context ? `${advice.context} (${count(advice.ended)})` : "–"}</td>
    </tr>
  );
}

function ClassParts({ advice }: { advice: ClassAdvice }) {
  const { store } = useApp();
  const inGallery = () => batch(() => {
    store.emphasised.value = advice.parts;
    store.view.value = "look";
  });
  return (
    <section class="block" id={sectionId(advice)} tabIndex={-1} aria-label={`Parts of ${advice.name}`} data-class={advice.name}>
      <div class="view-bar">
        <h3>{advice.name}: {counted(advice.parts.length, "part")}</h3>
        <button type="button" class="button small" aria-label={`Open in the gallery: the parts of ${advice.name}`} onClick={inGallery}>Open in the gallery</button>
      </div>
      <div class="advice-parts">
        {advice.parts.map((part) => <PartStrip key={part} run={store.opened.value!} part={part} />)}
      </div>
    </section>
  );
}
