import { isPlainObject } from '../../core/json.ts';
import type { Project } from '../../projects/project.ts';
import { type Collection, hasRules, rowSecurityModes } from '../collection.ts';
import { activeCollections } from '../collection-record.ts';
import { byName } from './check-rules.ts';
import { parseRules } from './parse-rules.ts';
import { isFalse, isTrue, lacksIndex, type RuleComparison, type RuleNode, type Rules, someNode } from './rule.ts';

type Known = ReadonlyMap<string, Collection>;

const anyUserCreates = (collection: Collection, known: Known): boolean => {
  const { rls } = collection;
  if (!rls.enabled) return false;
  if (rls.mode !== 'rules') return rowSecurityModes.includes(rls.mode);
  return isTrue(parseRules(collection, known, rls.rules).create);
};

const everyRule = (rules: Rules): readonly RuleNode[] => [
  ...[rules.get, rules.list, rules.create, rules.before, rules.after, rules.delete],
  ...[rules.readTrash, rules.recover, rules.purge],
];

const comparisonsOf = (rules: Rules): readonly RuleComparison[] => {
  const found: RuleComparison[] = [];
  for (const rule of everyRule(rules)) {
    someNode(rule, (node) => {
      if (node.kind === 'compare') found.push(node);
      return false;
    });
  }
  return found;
};

/** The first comparison per key, so that each hint is given once. */
const firstOf = (
  comparisons: readonly RuleComparison[],
  key: (comparison: RuleComparison) => string | undefined,
): ReadonlyMap<string, string> => {
  const first = new Map<string, string>();
  for (const comparison of comparisons) {
    const value = key(comparison);
    if (value !== undefined && !first.has(value)) first.set(value, comparison.at);
  }
  return first;
};

const openSources = (comparisons: readonly RuleComparison[], known: Known): readonly string[] => {
  const sources = firstOf(comparisons, ({ operand }) => (operand.kind === 'from' ? operand.collection : undefined));
  return [...sources].flatMap(([name, at]) => {
    const source = known.get(name);
    if (!source || !anyUserCreates(source, known)) return [];
    return `${at} looks values up in "${name}" ($from), into which any user can insert: a user could give themselves the right.`;
  });
};

/** JSON bodies have no dates, so only declared fields are compared as dates. */
const timesOfTexts = (comparisons: readonly RuleComparison[]): readonly string[] => {
  const undated = firstOf(comparisons, ({ operand, type, at }) =>
    operand.kind === 'now' && type === undefined ? at : undefined,
  );
  return [...undated.values()].map(
    (at) =>
      `${at} compares a field that no schema declares with the time ($now). Dates in it are stored as texts, which are never equal to, before or after a time. Declare the field as a Date.`,
  );
};

const hintsOf = (collection: Collection, known: Known): readonly string[] => {
  const { rules: input } = collection.rls;
  const rules = parseRules(collection, known, input);
  const comparisons = comparisonsOf(rules);
  const isSplit = isPlainObject(input?.read) && 'list' in input.read;
  const list = isSplit ? 'rules.read.list' : 'rules.read';
  return [
    ...openSources(comparisons, known),
    ...timesOfTexts(comparisons),
    ...(lacksIndex(rules.list)
      ? [
          `${list} has a branch that compares no field by equality or $in, so no index finds what it allows: lists read hidden documents too, and take longer the more there are.`,
        ]
      : []),
    ...(collection.feed?.on && isFalse(rules.list) && !isFalse(rules.get)
      ? [
          'rules.read allows single documents (get) but no lists, so the changes feed tells users of every change as of a deletion. Write a rule for list, or switch the feed off.',
        ]
      : []),
  ];
};

/** Returns hints on saved rules, each beginning with a rule's path. Costs one query. */
export const ruleHints = async (project: Project, name: string): Promise<readonly string[]> => {
  const known = byName(await activeCollections(project));
  const collection = known.get(name);
  return collection && hasRules(collection.rls) ? hintsOf(collection, known) : [];
};
