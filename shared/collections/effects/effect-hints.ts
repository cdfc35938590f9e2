import { type Collection, hasRules } from '../collection.ts';
import { parseRules } from '../rules/parse-rules.ts';
import { isFalse } from '../rules/rule.ts';
import { typeAt } from '../schema/field-path.ts';
import { rightsOf } from '../schema/field-rights.ts';
import { type Expression, expressionsOf } from './effect.ts';
import { parseEffects } from './parse-effects.ts';

type Known = ReadonlyMap<string, Collection>;

/** Whether a publishable key could change a field of a stored document. */
const isChangeable = (collection: Collection, known: Known, path: string): boolean => {
  const [root = ''] = path.split('.', 1);
  const { rls } = collection;
  if (!rls.enabled || root === rls.ownerField || root.startsWith('_')) return false;
  if (root === 'createdAt' || root === 'updatedAt') return false;
  if (hasRules(rls) && isFalse(parseRules(collection, known, rls.rules).before)) return false;
  return !rightsOf(collection).written.some(
    ({ path: of, write }) => (path === of || path.startsWith(`${of}.`)) && (write === 'server' || write === 'create'),
  );
};

const hintsOf = (expression: Expression, own: Collection, known: Known): readonly string[] => {
  if (expression.kind !== 'doc') return [];
  const { at, path, ref } = expression;
  const source = ref ? known.get(ref.collection) : own;
  if (!source) return [];
  const type = typeAt(source, path);
  const named = `"${path}" of "${source.name}"`;
  return [
    ...(isChangeable(source, known, path)
      ? [
          `${at} reads ${named}, which a publishable key may change later. Give the field "write": "create" or "server".`,
        ]
      : []),
    ...(type?.type === 'Number' && type.min === undefined && !type.enum
      ? [`${at} reads ${named}, a Number without min, which may be negative.`]
      : []),
  ];
};

/** Hints on the effects of a collection, each beginning with the path of an expression. */
export const effectHints = (collection: Collection, known: Known): readonly string[] => {
  const expressions = parseEffects(collection, known).flatMap(expressionsOf);
  return [...new Set(expressions.flatMap((expression) => hintsOf(expression, collection, known)))];
};
