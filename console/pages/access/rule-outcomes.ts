import type { Collection } from '../../../shared/collections/collection.ts';
import { access } from '../../text/access.ts';
import { pathOf } from './access-draft.ts';
import { type Access, halvesOf, readHalves, rulesOf, updateHalves } from './access-kinds.ts';
import { explainRule } from './explain-rule.ts';
import { type RuleName, ruleTree } from './rule-clauses.ts';
import { type RuleTree, textOf } from './rule-tree.ts';

export type Outcome = 'true' | 'false' | 'unknown';

/** The outcome of one comparison, from the API. */
export interface Part {
  readonly path: string;
  readonly outcome: Outcome;
}

/** A part of a rule with its outcome. */
export interface OutcomeNode {
  readonly kind: 'clause' | 'all' | 'any' | 'not';
  readonly text: string;
  readonly outcome: Outcome;
  readonly of: readonly OutcomeNode[];
}

export interface TriedRule {
  readonly title: string;
  readonly node: OutcomeNode;
}

const not = (outcome: Outcome): Outcome => (outcome === 'unknown' ? outcome : outcome === 'true' ? 'false' : 'true');

const together = (outcomes: readonly Outcome[]): Outcome => {
  if (outcomes.includes('false')) return 'false';
  return outcomes.includes('unknown') ? 'unknown' : 'true';
};

/** The outcome of a comparison. One that was not evaluated has the outcome of the part around it. */
const outcomeAt = (parts: readonly Part[], at: string): Outcome =>
  (parts.find(({ path }) => path === at) ?? parts.find(({ path }) => at.startsWith(`${path}.`)))?.outcome ?? 'unknown';

const nodeOf = (tree: RuleTree, parts: readonly Part[]): OutcomeNode => {
  if (tree.kind === 'clause') return { kind: 'clause', text: tree.text, outcome: outcomeAt(parts, tree.at), of: [] };
  if (tree.kind === 'not') {
    const of = nodeOf(tree.of, parts);
    return { kind: 'not', text: access.tried.groups.not, outcome: not(of.outcome), of: [of] };
  }
  if (tree.at !== undefined) return { kind: 'clause', text: textOf(tree), outcome: outcomeAt(parts, tree.at), of: [] };
  const of = tree.of.map((part) => nodeOf(part, parts));
  const outcomes = of.map(({ outcome }) => outcome);
  const outcome = tree.kind === 'all' ? together(outcomes) : not(together(outcomes.map(not)));
  return { kind: tree.kind, text: access.tried.groups[tree.kind], outcome, of };
};

type Operation = keyof typeof access.tried.operations;

/** A rule that an operation uses: its path, its value, and its outcomes. */
interface Asked {
  readonly name: RuleName;
  readonly at: string;
  readonly rule: unknown;
  readonly parts: readonly Part[];
  readonly title?: string;
}

const askedRules = (operation: Operation, rls: Access, parts: readonly Part[]): readonly Asked[] => {
  const rules = rulesOf(rls);
  const read = halvesOf(rules.read, readHalves);
  const update = halvesOf(rules.update, updateHalves);
  const under = (at: string) =>
    parts.filter(({ path }) => path === at || path.startsWith(`${at}.`) || path === 'rules');
  const one = (name: RuleName, rule: unknown): Asked => {
    const at = pathOf(name);
    return { name, at, rule, parts: under(at) };
  };
  const half = (name: 'get' | 'list') => (read ? one(name, read[name] ?? false) : one('read', rules.read));
  const before = update ? one('before', update.before ?? true) : one('update', rules.update);
  switch (operation) {
    case 'get': {
      const trashed = parts.filter(({ path }) => path.startsWith('rules.readTrash'));
      return [half('get'), ...(trashed.length > 0 ? [one('readTrash', rules.readTrash ?? true)] : [])];
    }
    case 'list':
      return [half('list')];
    case 'update': {
      if (update) return [before, one('after', update.after ?? true)];
      if (rls.mode !== 'rules') return [before];
      // A single rule is evaluated for the document before and after the update, with the same paths.
      const { before: was, after: will } = access.tried;
      return [
        { ...before, title: was, parts: parts.slice(0, parts.length / 2) },
        { ...before, title: will, parts: parts.slice(parts.length / 2) },
      ];
    }
    case 'recover':
      return [rules.recover === undefined ? before : one('recover', rules.recover)];
    case 'purge':
      return [one('delete', rules.delete), ...(rules.purge === undefined ? [] : [one('purge', rules.purge)])];
    default:
      return [one(operation, rules[operation])];
  }
};

/** The rules of an operation, as trees with outcomes; none without row security. */
export const triedRules = (
  operation: Operation,
  collection: Collection,
  known: readonly Collection[],
  parts: readonly Part[],
): readonly TriedRule[] => {
  if (!collection.rls.enabled) return [];
  return askedRules(operation, collection.rls, parts).map(({ name, at, rule, parts: own, title }) => {
    const tree = typeof rule === 'boolean' ? undefined : ruleTree(at, rule, collection, known);
    const text = explainRule(name, rule, collection, known).join(' ');
    const outcome = typeof rule === 'boolean' ? (`${rule}` as const) : (own[0]?.outcome ?? 'unknown');
    const node: OutcomeNode = tree ? nodeOf(tree, own) : { kind: 'clause', text, outcome, of: [] };
    return { title: title ?? access.rules[name][0], node };
  });
};
