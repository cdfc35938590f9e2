import { deserialize } from '../../clients/raw-documents.ts';
import { JsonText } from '../../core/json-text.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import type { SplitText } from '../wire-text.ts';
import { wireDocument } from '../wire-value.ts';
import { boundOf, type Measured, measured } from './page-size.ts';
import { presentProjected, splitPlainText, textOf, type Wanted } from './projection.ts';
import { sortKeyField } from './sort.ts';

/** One document of a page, as the bytes that MongoDB sent; whatever is asked of it is made of them then, and once. */
export class Row implements Measured {
  readonly atMost: number;
  readonly #project: Pick<Project, 'placement'>;
  readonly #raw: Uint8Array;
  readonly #wanted: Wanted;
  readonly #hasKey: boolean;
  #document: Document | undefined;
  #text: JsonText | undefined;
  #exact: number | undefined;

  /** `hasKey`: among its fields is the key that MongoDB sorted it by. `text` is its own, if that is known. */
  constructor(project: Pick<Project, 'placement'>, raw: Uint8Array, wanted: Wanted, hasKey: boolean, text?: JsonText) {
    this.atMost = boundOf(raw.byteLength);
    this.#project = project;
    this.#raw = raw;
    this.#wanted = wanted;
    this.#hasKey = hasKey;
    this.#text = text;
  }

  get document(): Document {
    if (!this.#document) {
      const { [sortKeyField]: _key, ...stored } = deserialize(this.#raw);
      this.#document = presentProjected(wireDocument(stored) as Document, this.#wanted);
    }
    return this.#document;
  }

  get text(): JsonText {
    this.#text ??= this.#hasKey
      ? new JsonText(JSON.stringify(this.document))
      : textOf(this.#project, this.#raw, this.#wanted);
    return this.#text;
  }

  /** Its text, split at the ids that fields at its top hold; `undefined` where only objects tell them. */
  splitAt(fields: readonly Uint8Array[]): SplitText | undefined {
    return this.#hasKey ? undefined : splitPlainText(this.#project, this.#raw, this.#wanted, fields);
  }

  /** The key that MongoDB sorted it by. */
  get position(): readonly unknown[] {
    const { [sortKeyField]: key, _id } = deserialize(this.#raw);
    return this.#hasKey ? (key as readonly unknown[]) : [_id];
  }

  exact(): number {
    this.#exact ??= measured(this.text);
    return this.#exact;
  }
}
