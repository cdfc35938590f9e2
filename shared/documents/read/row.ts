import { deserialize } from '../../clients/raw-documents.ts';
import { JsonText } from '../../core/json-text.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { wireDocument } from '../wire-value.ts';
import { boundOf, type Measured, measured, Sized } from './page-size.ts';
import { presentProjected, textOf, type Wanted } from './projection.ts';
import { sortKeyField } from './sort.ts';

/** One document of a page, as the bytes that MongoDB sent; whatever is asked of it is made of them then. */
export class Row implements Measured {
  /** Bytes that it cannot exceed in an answer. */
  readonly atMost: number;
  readonly #project: Project;
  readonly #raw: Uint8Array;
  readonly #wanted: Wanted;
  readonly #hasKey: boolean;
  #text: JsonText | undefined;

  /** `hasKey`: among its fields may be the key that MongoDB sorted it by. */
  constructor(project: Project, raw: Uint8Array, wanted: Wanted, hasKey: boolean) {
    this.atMost = boundOf(raw.byteLength);
    this.#project = project;
    this.#raw = raw;
    this.#wanted = wanted;
    this.#hasKey = hasKey;
  }

  #document(): Document {
    const { [sortKeyField]: _key, ...stored } = deserialize(this.#raw);
    return presentProjected(wireDocument(stored) as Document, this.#wanted);
  }

  /** The document in an answer. */
  get text(): JsonText {
    this.#text ??= this.#hasKey
      ? new JsonText(JSON.stringify(this.#document()))
      : textOf(this.#project, this.#raw, this.#wanted);
    return this.#text;
  }

  /** The same as an object, in which references can be replaced. */
  get sized(): Sized {
    return new Sized(this.#document(), this.#raw.byteLength);
  }

  /** The key that MongoDB sorted it by. */
  get position(): readonly unknown[] {
    const stored = deserialize(this.#raw);
    return (stored[sortKeyField] as readonly unknown[] | undefined) ?? [stored._id];
  }

  exact(): number {
    return measured(this.text);
  }
}
