import type { Field } from '../../collections/collection.ts';
import { parseCollection } from '../../collections/lifecycle/create-collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { parseSchema } from '../../collections/schema/schema-rules.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';

/** A collection as the assistant proposes it: what creating one takes as its body. */
export interface Proposal {
  readonly name?: string;
  readonly schema: readonly Field[];
  /** It is to have a changes feed. */
  readonly changes?: true;
}

/** A proposal, or what is wrong with the answer, in words that the language model can go by. */
type ParsedProposal =
  | { readonly usable: true; readonly proposal: Proposal }
  | { readonly usable: false; readonly reason: string };

const refuse = (reason: string): ParsedProposal => ({ usable: false, reason: cutText(reason, 500) });

/** Refuses what could not be sent back as it is when the collection is created. */
const requirePlain = (key: string, value: unknown): unknown => {
  const wellFormed = typeof value !== 'string' || value.isWellFormed();
  if (!key.isWellFormed() || !wellFormed) throw new Error('not well-formed Unicode');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('a number that is too large');
  return value;
};

/** The JSON object in a text, whatever surrounds it; models like to add a sentence or a fence. */
const objectIn = (text: string): unknown => {
  const [begin, end] = [text.indexOf('{'), text.lastIndexOf('}')];
  if (begin === -1 || end < begin) return undefined;
  try {
    return JSON.parse(text.slice(begin, end + 1), requirePlain);
  } catch {
    return undefined;
  }
};

const ownValue = (object: object, key: string): unknown =>
  Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : undefined;

const parse = (name: unknown, schema: unknown, changes: unknown): Proposal => {
  if (name !== undefined && name !== null && typeof name !== 'string') {
    throw new AppError('INVALID_NAME', 'name must be a string');
  }
  const parsed = name ? parseCollection(name, { schema, rls: null }) : { schema: parseSchema(schema) };
  if (parsed.schema === null) throw new AppError('INVALID_SCHEMA', 'schema must be a list of fields');
  const isFed = changes === true && name !== usersCollection;
  return { ...(name ? { name } : {}), schema: parsed.schema, ...(isFed ? { changes } : {}) };
};

/**
 * Reads what the language model answered by the rules that creating a collection has, so that a proposal which is shown
 * can be created. Anything besides `name`, `schema` and `changes` in it is left out.
 */
export const parseProposal = (text: string): ParsedProposal => {
  const object = objectIn(text);
  if (typeof object !== 'object' || object === null) return refuse('The answer is not one JSON object');
  try {
    return {
      usable: true,
      proposal: parse(ownValue(object, 'name'), ownValue(object, 'schema'), ownValue(object, 'changes')),
    };
  } catch (error) {
    if (error instanceof AppError) return refuse(error.message);
    throw error;
  }
};
