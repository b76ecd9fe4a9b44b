// SPDX-License-Identifier: Apache-2.0
// Paints thumbnails on a canvas: loads what is missing, a few at a time, keeps the last ones used.
import type { Thumb } from "../../source/source";

const kKept = 600;
const kAtOnce = 8;

interface Entry { image: HTMLImageElement; isReady: boolean }

export class ThumbPainter {
  private readonly entries = new Map<string, Entry>();
  private readonly waiting: string[] = [];
  private loading = 0;

  // `thumbOf` gives the image of a row; `changed` is called when another one can be painted.
  constructor(private readonly thumbOf: (row: number) => Thumb | null,
              private readonly changed: () => void) {}

  // False: no image (yet).
  paint(context: CanvasRenderingContext2D, row: number, left: number, top: number, side: number): boolean {
    const thumb = this.thumbOf(row);
    if (!thumb) return false;
    const entry = this.entry("url" in thumb ? thumb.url : thumb.sheet);
    if (!entry?.isReady) return false;
    if ("sheet" in thumb) {
      context.drawImage(entry.image, thumb.x, thumb.y, thumb.side, thumb.side, left, top, side, side);
      return true;
    }
    const { naturalWidth: w, naturalHeight: h } = entry.image;
    const cut = Math.min(w, h) || side;
    context.drawImage(entry.image, (w - cut) / 2, (h - cut) / 2, cut, cut, left, top, side, side);
    return true;
  }

  private entry(url: string): Entry | undefined {
    const found = this.entries.get(url);
    if (found) {
      this.entries.delete(url);
      this.entries.set(url, found); // the last used is last
      return found;
    }
    if (!this.waiting.includes(url)) this.waiting.push(url);
    if (this.waiting.length > 200) this.waiting.splice(0, this.waiting.length - 200);
    this.loadNext();
    return undefined;
  }

  private loadNext(): void {
    while (this.loading < kAtOnce && this.waiting.length) {
      const url = this.waiting.pop()!;
      const entry: Entry = { image: new Image(), isReady: false };
      this.entries.set(url, entry);
      ++this.loading;
      entry.image.decoding = "async";
      entry.image.onload = () => { entry.isReady = true; this.finished(); };
      entry.image.onerror = () => this.finished();
      entry.image.src = url;
    }
    for (const url of this.entries.keys()) {
      if (this.entries.size <= kKept) break;
      this.entries.delete(url);
    }
  }

  private finished(): void {
    --this.loading;
    this.changed();
    this.loadNext();
  }
}
