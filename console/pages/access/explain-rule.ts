import { type Known, type RuleName, ruleTree } from './rule-clauses.ts';
import { branchesOf, type Clause, together } from './rule-tree.ts';

const verbs: Readonly<Record<Exclude<RuleName, 'after'>, string>> = {
  read: 'may read',
  get: 'may read single documents',
  list: 'may list',
  create: 'may insert',
  update: 'may update',
  before: 'may update',
  delete: 'may delete',
  readTrash: 'also see documents in the trash',
  recover: 'may recover from the trash',
  purge: 'may delete permanently',
};

const sentence = (name: RuleName, clauses: readonly Clause[]): string => {
  const users = clauses.flatMap(({ user }) => user ?? []).filter((user) => user !== '');
  const rest = clauses.filter(({ user }) => user === undefined);
  const isUser = clauses.some((each) => each.needsUser);
  const who =
    users.length > 0
      ? `users ${users.map((user) => `whose ${user}`).join(' and ')}`
      : clauses.some(({ user }) => user === '')
        ? 'signed-in users'
        : isUser
          ? 'users'
          : 'anyone';
  const condition = rest.length > 0 ? ` if ${together(rest)}` : '';
  if (name === 'after') return `The result is accepted${isUser ? ` from ${who}` : ''}${condition}.`;
  return `${who.charAt(0).toUpperCase()}${who.slice(1)} ${verbs[name]}${condition}.`;
};

const always: Readonly<Partial<Record<RuleName, string>>> = {
  after: 'Any result is accepted.',
  readTrash: 'Anyone who may read a document also sees it in the trash.',
  purge: 'Anyone who may delete a document may also delete it permanently.',
};

const never: Readonly<Partial<Record<RuleName, string>>> = {
  after: 'No result is accepted.',
  readTrash: 'Only your server sees documents in the trash.',
};

const simple = (name: RuleName, said: typeof always, who: (may: string) => string): string =>
  said[name] ?? (name === 'after' ? '' : who(verbs[name]));

/**
 * Returns a rule as plain sentences, one for each alternative, with field names in backticks. Returns none if the
 * rule is not complete.
 */
export const explainRule = (
  name: RuleName,
  rule: unknown,
  collection: Known,
  known: readonly Known[] = [],
): readonly string[] => {
  if (rule === true) return [simple(name, always, (may) => `Anyone ${may}, signed in or not.`)];
  if (rule === false) return [simple(name, never, (may) => `Only your server ${may}.`)];
  const tree = ruleTree('', rule, collection, known);
  return tree ? branchesOf(tree).map((clauses) => sentence(name, clauses)) : [];
};
