import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import { fieldAt, fieldsOf } from '../../../shared/collections/schema/field-path.ts';
import { isPlainObject } from '../../../shared/core/json.ts';
import { ruleTree } from '../access/rule-clauses.ts';
import { textOf, UnclearRule } from '../access/rule-tree.ts';
import { code, valueWords } from './effect-values.ts';

/** An effect in plain sentences, with field names in backticks. */
interface EffectSentences {
  /** "When a document is created, if `status` is "paid":" */
  readonly when: string;
  /** "Set `total` to `price` of `product` × `quantity`." */
  readonly does: readonly string[];
}

type Known = readonly Collection[];
type Entries = Readonly<Record<string, unknown>>;

const events: Readonly<Record<string, string>> = { create: 'created', update: 'updated', delete: 'deleted' };

const whenOf = ({ on, at }: EffectInput): string => {
  if (typeof at === 'string') return `At the time in ${code(at)}`;
  const names = [on].flat().map((event) => events[String(event)]);
  if (names.length === 0 || names.includes(undefined)) throw new UnclearRule();
  return `When a document is ${names.length < 3 ? names.join(' or ') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`}`;
};

/** Conditions of rules say "they" for the caller. */
const aboutUser = (text: string): string =>
  text.replace(/\bthey are\b/g, 'the user is').replace(/\btheir\b/g, 'the user’s');

const conditionOf = (where: unknown, collection: Collection, known: Known): string => {
  const tree = ruleTree('where', where, collection, known);
  if (!tree) throw new UnclearRule();
  return aboutUser(textOf(tree));
};

const ifOf = ({ where }: EffectInput, collection: Collection, known: Known): string => {
  if (where === undefined) return '';
  const names = isPlainObject(where) ? Object.keys(where) : [];
  const isHalves = isPlainObject(where) && names.length > 0 && names.every((name) => /^(?:before|after)$/.test(name));
  if (!isHalves) return `, if ${conditionOf(where, collection, known)}`;
  const { before, after } = where as Entries;
  const halves = [
    ...(before === undefined ? [] : [`${conditionOf(before, collection, known)} before the update`]),
    ...(after === undefined ? [] : [`${conditionOf(after, collection, known)} after it`]),
  ];
  return `, if ${halves.join(', and ')}`;
};

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] => {
  if (!isPlainObject(value)) throw new UnclearRule();
  return Object.entries(value);
};

/** "copy `price` from `product`" for a field of the same name, otherwise "set …". */
const setWords = (field: string, value: unknown, words: (value: unknown) => string): string => {
  const path = isPlainObject(value) && typeof value.$doc === 'string' ? value.$doc : '';
  const said = words(value);
  const [, ref] = path.endsWith(`.${field}`) ? (/^`[^`]*` of (`.*`)$/.exec(said) ?? []) : [];
  return ref ? `Copy ${code(field)} from ${ref}.` : `Set ${code(field)} to ${said}.`;
};

const amountOf = (value: unknown, words: (value: unknown) => string): readonly [verb: string, amount: string] => {
  if (typeof value === 'number' && value < 0) return ['Reduce', String(-value)];
  if (isPlainObject(value) && '$minus' in value) return ['Reduce', words(value.$minus)];
  return ['Increase', words(value)];
};

const listOf = (value: unknown): unknown => (isPlainObject(value) && '$each' in value ? value.$each : value);

const operated = (operator: string, operand: unknown, of: string, words: (value: unknown) => string) => {
  const each = (say: (path: string, value: unknown) => string) =>
    entriesOf(operand).map(([path, value]) => say(`${code(path)} of ${of}`, value));
  const named = (say: (path: string) => string) => {
    if (!Array.isArray(operand)) throw new UnclearRule();
    return operand.map((path) => say(`${code(String(path))} of ${of}`));
  };
  switch (operator) {
    case '$inc':
      return each((path, value) => {
        const [verb, amount] = amountOf(value, words);
        return `${verb} ${path} by ${amount}.`;
      });
    case '$mul':
      return each((path, value) => `Multiply ${path} by ${words(value)}.`);
    case '$min':
      return each((path, value) => `Lower ${path} to at most ${words(value)}.`);
    case '$max':
      return each((path, value) => `Raise ${path} to at least ${words(value)}.`);
    case '$push':
    case '$addToSet':
      return each((path, value) => `Add ${words(listOf(value))} to ${path}.`);
    case '$pull':
      return each((path, value) => `Remove ${words(value)} from ${path}.`);
    case '$unset':
      return named((path) => `Remove ${path}.`);
    case '$currentDate':
      return named((path) => `Set ${path} to the time of the write.`);
    default:
      throw new UnclearRule();
  }
};

const targetOf = ({ collection, id }: Entries, words: (value: unknown) => string): string => {
  const name = code(String(collection));
  if (isPlainObject(id) && typeof id.$doc === 'string') {
    return id.$doc === '_id' ? `the document of ${name} with the same id` : words(id);
  }
  return `the document ${words(id)} of ${name}`;
};

const writeWords = (write: unknown, known: Known, words: (value: unknown) => string): readonly string[] => {
  if (!isPlainObject(write)) throw new UnclearRule();
  const { op, collection, where } = write;
  const target = known.find(({ name }) => name === collection) ?? {
    name: String(collection),
    schema: null,
    rls: { enabled: false, mode: 'public-read', ownerField: '', trash: 'everyone', requires: 'none' },
  };
  const condition = where === undefined ? '' : plainCondition(where, target as Collection, known);
  const of = op === 'insert' ? '' : targetOf(write, words);
  const provided = condition && ` Reject the write unless there ${condition}.`;
  switch (op) {
    case 'insert': {
      const fields = entriesOf(write.document).map(([name, value]) => `${code(name)}: ${words(value)}`);
      return [`Insert a document into ${code(target.name)}${fields.length > 0 ? ` with ${fields.join(', ')}` : ''}.`];
    }
    case 'update': {
      const said = entriesOf(write.changes).flatMap(([key, value]) =>
        key.startsWith('$') ? operated(key, value, of, words) : [`Set ${code(key)} of ${of} to ${words(value)}.`],
      );
      return said.map((sentence, place) => (place === said.length - 1 ? sentence + provided : sentence));
    }
    case 'delete':
      return [`Move ${of} to the trash.${provided}`];
    case 'check':
      return [condition ? `Reject the write unless in ${of} ${condition}.` : `Reject the write unless ${of} exists.`];
    default:
      throw new UnclearRule();
  }
};

/** A condition of a write, whose values may be computed. */
const plainCondition = (where: unknown, target: Collection, known: Known): string => {
  const tree = ruleTree('where', where, target, known);
  return tree ? aboutUser(textOf(tree)) : 'its condition is true';
};

const mailWords = (mail: unknown): string => {
  if (!isPlainObject(mail) || typeof mail.template !== 'string') throw new UnclearRule();
  const { template, to } = mail;
  const email = `Send the email ${code(template)} to`;
  if (typeof to === 'string') return `${email} ${to}.`;
  if (!isPlainObject(to)) throw new UnclearRule();
  if (to.$user === 'email') return `${email} the user who writes, if their address is verified.`;
  if (typeof to.$emailOf === 'string')
    return `${email} the user in ${code(to.$emailOf)}, if their address is verified.`;
  if (typeof to.$doc === 'string') return `${email} the address in ${code(to.$doc)}.`;
  throw new UnclearRule();
};

const clear = <T>(say: () => T): T | undefined => {
  try {
    return say();
  } catch (error) {
    if (error instanceof UnclearRule) return undefined;
    throw error;
  }
};

/** An effect in plain English. A part that has no words is named, so that nothing is left out. */
export const effectSentences = (effect: EffectInput, collection: Collection, known: Known): EffectSentences => {
  const isRef = (path: string) => fieldAt(fieldsOf(collection), path)?.type === 'Ref';
  const words = (value: unknown) => valueWords(value, isRef);
  const { set, writes, mail, trusted } = effect;
  const when = clear(() => whenOf(effect)) ?? 'When it is not clear';
  const condition = clear(() => ifOf(effect, collection, known)) ?? ', if its condition is true';
  const sets = isPlainObject(set) ? Object.entries(set) : [];
  const does = [
    ...sets.map(
      ([field, value]) => clear(() => setWords(field, value, words)) ?? `Set ${code(field)} as its JSON says.`,
    ),
    ...(Array.isArray(writes) ? writes : []).flatMap(
      (write) => clear(() => writeWords(write, known, words)) ?? ['Write another document as its JSON says.'],
    ),
    ...(mail === undefined ? [] : [clear(() => mailWords(mail)) ?? 'Send an email as its JSON says.']),
    ...(trusted === true ? ['It reads with the rights of your server.'] : []),
  ];
  return { when: `${when}${condition}:`, does: does.length > 0 ? does : ['Nothing yet.'] };
};
