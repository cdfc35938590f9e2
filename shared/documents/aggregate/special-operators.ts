import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../write/schema-values.ts';
import { type Estimate, type Expressions, given, nothing, oneOf, type Scope, sumOf } from './estimate.ts';
import { filtered, mapped, reduced } from './estimate-loops.ts';
import { listOf, plainText } from './operands.ts';
import { invalidPipeline } from './pipeline.ts';
import { mostElements } from './range-size.ts';

type Special = (operand: unknown, scope: Scope, estimator: Expressions) => Estimate;

const partsOf = (operand: unknown): JsonObject => (isJsonObject(operand) ? operand : {});

const literal: Special = (operand) => given(16 + 4 * Buffer.byteLength(JSON.stringify(operand ?? null)));

const meta: Special = (_operand, _scope, { bounds: { document } }) => ({
  ...given(document),
  held: document,
  work: document,
});

const bound: Special = (operand, scope, estimator) => {
  const { vars, in: inner } = partsOf(operand);
  if (Object.hasOwn(partsOf(vars), 'CURRENT')) throw invalidPipeline('$let cannot set CURRENT: name another variable.');
  const values = Object.entries(partsOf(vars)).map(([name, value]) => [name, estimator.of(value, scope)] as const);
  const variables = values.map(([name, { weight }]) => [name, () => weight] as const);
  const result = estimator.of(inner, new Map([...scope, ...variables]));
  const { held, work } = sumOf(values.map(([, estimate]) => estimate));
  return { ...result, held: result.held + held, work: result.work + work };
};

const condition: Special = (operand, scope, estimator) => {
  const { if: asked, then, else: otherwise } = partsOf(operand);
  const [test, ...branches] = Array.isArray(operand) ? operand : [asked, then, otherwise];
  const chosen = oneOf(branches.map((branch) => estimator.of(branch, scope)));
  return { ...chosen, work: chosen.work + estimator.of(test, scope).work };
};

const choice: Special = (operand, scope, estimator) => {
  const { branches, default: otherwise } = partsOf(operand);
  const parts = Array.isArray(branches) ? branches.map(partsOf) : [];
  const chosen = oneOf([...parts.map(({ then }) => then), otherwise].map((branch) => estimator.of(branch, scope)));
  return { ...chosen, work: chosen.work + sumOf(parts.map((part) => estimator.of(part.case, scope))).work };
};

const range: Special = (operand, scope, estimator) => {
  const { work } = sumOf(listOf(operand).map((part) => estimator.of(part, scope)));
  const count = mostElements(listOf(operand), {
    elements: (array) => estimator.elementsOf(array, estimator.of(array, scope)),
    bytes: (text) => estimator.of(text, scope).weight,
  });
  const made = 16 * count + 48;
  return { ...given(made), count, held: made, work: work + made };
};

/** A slice of a fixed length copies no more than that. */
const slice: Special = (operand, scope, estimator) => {
  const operands = listOf(operand);
  const array = estimator.of(operands[0], scope);
  const last = operands.at(-1);
  const all = estimator.elementsOf(operands[0], array);
  const count = typeof last === 'number' ? Math.min(all, Math.abs(last)) : all;
  const made = 16 * count + 64;
  const { work } = sumOf(operands.slice(1).map((part) => estimator.of(part, scope)));
  const flat = Math.min(array.flat, typeof last === 'number' ? made : Infinity);
  return { weight: array.weight, flat, count, held: array.held + made, work: array.work + work + made };
};

const fieldsToArray: Special = (operand, scope, estimator) => {
  const object = estimator.of(Array.isArray(operand) ? operand[0] : operand, scope);
  const fields = { ...object, count: object.flat / 3 };
  const count = estimator.elementsOf(Array.isArray(operand) ? operand[0] : operand, fields);
  const made = 320 * count + 64;
  return {
    weight: object.weight + 32 * count + 16,
    flat: 16 * count,
    count,
    held: object.held + made,
    work: object.work + made,
  };
};

const zip: Special = (operand, scope, estimator) => {
  const { inputs, defaults, useLongestLength } = partsOf(operand);
  const arrays = Array.isArray(inputs) ? inputs : [inputs];
  const all = sumOf([...arrays, defaults ?? []].map((array) => estimator.of(array, scope)));
  const columns = useLongestLength === undefined || useLongestLength === false ? 1 : arrays.length;
  const weight = 8 * columns * all.weight + 64;
  return { ...given(weight), held: all.held + 4 * weight, work: all.work + 4 * weight };
};

const replaced: Special = (operand, scope, estimator) => {
  const { input, find, replacement } = partsOf(operand);
  const [text, sought = nothing, put = nothing] = [input, find, replacement].map((part) => estimator.of(part, scope));
  const each = (plainText(replacement) ?? put.weight) / Math.max(1, plainText(find) ?? 1);
  const weight = (text?.weight ?? 0) * Math.max(1, each + (plainText(find) ? 0 : 1)) + put.weight;
  return { ...given(weight), held: weight, work: (text?.work ?? 0) + sought.work + put.work + weight };
};

/** Operators whose operands are not all worked out once, or of which more is known than that they copy. */
export const specialOperators: ReadonlyMap<string, Special> = new Map([
  ['$literal', literal],
  ['$meta', meta],
  ['$let', bound],
  ['$cond', condition],
  ['$switch', choice],
  ['$map', (operand, scope, estimator) => mapped(partsOf(operand), scope, estimator)],
  ['$filter', (operand, scope, estimator) => filtered(partsOf(operand), scope, estimator)],
  ['$reduce', (operand, scope, estimator) => reduced(partsOf(operand), scope, estimator)],
  ['$range', range],
  ['$slice', slice],
  ['$objectToArray', fieldsToArray],
  ['$zip', zip],
  ['$replaceAll', replaced],
]);
