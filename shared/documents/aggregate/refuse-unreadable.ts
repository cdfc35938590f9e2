import type { FieldRight } from '../../collections/schema/field-rights.ts';
import { searchableFields } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { relationOf } from '../access/field-rights.ts';
import type { JsonObject } from '../document.ts';
import { searchesText } from '../query/condition.ts';
import { isJsonObject } from '../values.ts';
import { mayTell } from './hide-fields.ts';
import { invalidPipeline, type Pipeline, type Source, type Sources, stageParts } from './pipeline.ts';

/*
 * Unreadable fields are removed from every document before a pipeline uses it. This rejects pipelines that name such
 * a field anyway, and stages that read an index before fields can be removed.
 */

const refusal = (path: string): AppError => {
  const field = cutText(path, 200, '…');
  const message = `The pipeline names "${field}", which you may not read. Leave it out.`;
  return new AppError('INVALID_PIPELINE', message, { errors: [{ field, message }] });
};

/** Operators and options whose text, or list of texts, is a field name. */
const naming: ReadonlySet<string> = new Set([
  ...['$unset', '$getField', '$setField', '$unsetField', 'field', 'localField', 'partitionByFields', 'key', 'path'],
]);

/** Operators that apply to the field before them. */
const continuing: ReadonlySet<string> = new Set(['$elemMatch', '$not', '$all', '$each']);

/** Stages whose operand has options, not fields, at the top. */
const withOptions: ReadonlySet<string> = new Set([
  ...['$bucket', '$bucketAuto', '$setWindowFields', '$densify', '$fill', '$geoNear', '$vectorSearch', '$search'],
  ...['$lookup', '$unionWith', '$graphLookup'],
]);

/** The position in a pipeline, and what is rejected there. */
interface Walk {
  readonly unreadable: readonly FieldRight[];
  /** Also rejects a field around an unreadable one, for filters and sorts. */
  readonly orAround: boolean;
}

const check = (path: string, { unreadable }: Walk, orAround: boolean): void => {
  const isNamed = unreadable.some((right) => {
    const { kind } = relationOf(path, right);
    return kind === 'same' || kind === 'inside' || (orAround && kind === 'around');
  });
  if (isNamed) throw refusal(path);
};

const isElements = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).join() === '$elemMatch';

const walkText = (text: string, walk: Walk, isName: boolean): void => {
  if (text.startsWith('$$')) {
    const [, path] = /^\$\$(?:ROOT|CURRENT)\.(.+)$/.exec(text) ?? [];
    if (path !== undefined) check(path, walk, false);
  } else if (text.startsWith('$')) check(text.slice(1), walk, false);
  else if (isName) check(text, walk, false);
};

/** `prefix` is the path of the field that an operand belongs to, with a dot; `undefined` inside an expression. */
const walkOperand = (operand: unknown, walk: Walk, prefix: string | undefined, isName = false): void => {
  if (typeof operand === 'string') walkText(operand, walk, isName);
  else if (Array.isArray(operand)) for (const each of operand) walkOperand(each, walk, prefix, isName);
  else if (isJsonObject(operand)) {
    for (const [key, value] of Object.entries(operand)) {
      const isOperator = key.startsWith('$');
      if (!isOperator && prefix !== undefined) {
        check(prefix + key, walk, walk.orAround && !isElements(value));
        walkOperand(value, walk, `${prefix}${key}.`);
      } else {
        const keepsField = !isOperator || continuing.has(key) || /^\$(and|or|nor)$/.test(key);
        walkOperand(value, walk, keepsField ? prefix : undefined, naming.has(key));
      }
    }
  }
};

const walkStage = (name: string, operand: unknown, unreadable: readonly FieldRight[]): void => {
  const walk: Walk = { unreadable, orAround: name === '$match' || name === '$sort' };
  if (!withOptions.has(name) || !isJsonObject(operand)) {
    walkOperand(operand, walk, '', naming.has(name));
    return;
  }
  for (const [option, value] of Object.entries(operand)) walkOperand(value, walk, '', naming.has(option));
};

/** Rejects stages that find documents by an index before fields can be removed. */
const refuseSearch = (name: string, operand: unknown, { collection, unreadable }: Source): void => {
  if (unreadable.length === 0) return;
  const cannot = (what: string, instead: string) =>
    invalidPipeline(`${what} cannot search "${collection.name}", of which you may not read every field. ${instead}`);
  if (name === '$search') throw cannot('$search', 'Search from your server with the secret key.');
  if (name === '$match' && searchesText(operand) && searchableFields(collection).length === 0)
    throw cannot('$text', 'Give the fields to search "searchable": true.');
  if (name === '$geoNear' && typeof (operand as JsonObject).key !== 'string')
    throw cannot('$geoNear without a key', 'Name the field of the place in "key".');
  if ((name === '$geoNear' || name === '$vectorSearch') && mayTell(operand, unreadable))
    throw cannot(name, 'Name only fields that you may read.');
};

/** The unreadable fields of joined documents, by their paths after the join. */
const putInto = (as: unknown, { unreadable }: Source): readonly FieldRight[] =>
  typeof as === 'string'
    ? unreadable.map((right) => ({
        ...right,
        segments: [...as.split('.'), ...right.segments],
        arrays: right.arrays + 1,
      }))
    : [];

const requireJoinable = (operand: unknown, { unreadable }: Source): void => {
  const texts = (Array.isArray(operand) ? operand : [operand]).filter((text) => typeof text === 'string');
  for (const text of texts) check(text, { unreadable, orAround: true }, true);
};

const sourceNamed = (name: unknown, { joined }: Sources): Source | undefined => joined.get(String(name));

/** The unreadable fields that a stage brings in from another collection. Rejects those that it names. */
const joinedBy = (name: string, operand: unknown, sources: Sources): readonly FieldRight[] => {
  const join = typeof operand === 'string' ? { coll: operand } : (operand as JsonObject);
  const source = sourceNamed(name === '$unionWith' ? join.coll : join.from, sources);
  if (!source) return [];
  if (Array.isArray(join.pipeline)) refuseIn(join.pipeline as Pipeline, source, sources);
  if (name === '$unionWith') return source.unreadable;
  requireJoinable([join.foreignField, join.connectToField, join.connectFromField], source);
  walkStage('$match', join.restrictSearchWithMatch, source.unreadable);
  if (mayTell(join.restrictSearchWithMatch, source.unreadable)) {
    throw invalidPipeline(
      `restrictSearchWithMatch may name a field of "${source.collection.name}" that you may not read. Leave it out.`,
    );
  }
  return putInto(join.as, source);
};

const refuseIn = (
  pipeline: Pipeline,
  source: Source,
  sources: Sources,
  known: readonly FieldRight[] = source.unreadable,
): void => {
  let unreadable = known;
  for (const stage of pipeline) {
    const [name, operand] = stageParts(stage);
    refuseSearch(name, operand, source);
    if (name === '$facet') {
      for (const inner of Object.values(operand as JsonObject)) {
        refuseIn(inner as Pipeline, source, sources, unreadable);
      }
    } else if (name === '$lookup' || name === '$unionWith' || name === '$graphLookup') {
      const { pipeline: _pipeline, restrictSearchWithMatch: _match, ...rest } = isJsonObject(operand) ? operand : {};
      walkStage(name, rest, unreadable);
      unreadable = [...unreadable, ...joinedBy(name, operand, sources)];
    } else walkStage(name, operand, unreadable);
  }
};

/** Throws 400 `INVALID_PIPELINE` if a pipeline names a field of any collection that the caller may not read. */
export const refuseUnreadable = (pipeline: Pipeline, sources: Sources): void => {
  const all = [sources.main, ...sources.joined.values()];
  if (all.every(({ unreadable }) => unreadable.length === 0)) return;
  refuseIn(pipeline, sources.main, sources);
};
