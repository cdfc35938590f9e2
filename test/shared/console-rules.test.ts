import { describe, expect, test } from 'vitest';
import { bodyOf, draftOf } from '../../console/pages/access/access-draft.ts';
import { accessLines, kindOf } from '../../console/pages/access/access-kinds.ts';
import { explainRule } from '../../console/pages/access/explain-rule.ts';
import type { RuleName } from '../../console/pages/access/rule-clauses.ts';
import { type OutcomeNode, type Part, triedRules } from '../../console/pages/access/rule-outcomes.ts';
import { partsFor } from '../../console/pages/access/rule-parts.ts';
import { insertionOf } from '../../console/ui/json-insertion.ts';
import { type Collection, type Field, noRowSecurity, type RowSecurity } from '../../shared/collections/collection.ts';

const field = (key: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  ...{ key, type, required: false, unique: false },
  ...more,
});

const collection = (name: string, schema: readonly Field[] | null, rls: Partial<RowSecurity> = {}): Collection => ({
  ...{ name, schema, rls: { ...noRowSecurity, ...rls } },
});

const list = { items: { type: 'String' } } as const;
const tasks = collection('tasks', [
  field('title', 'String'),
  field('status', 'String'),
  field('author', 'String'),
  field('team', 'String'),
  field('price', 'Number'),
  field('likes', 'Number'),
  field('due', 'Date'),
  field('published', 'Boolean'),
  field('members', 'Array', list),
  field('tags', 'Array', list),
  field('parts', 'Array', { items: { type: 'Object', fields: [field('size', 'Number'), field('colour', 'String')] } }),
  field('board', 'Ref', { ref: 'boards' }),
  field('category', 'Ref', { ref: 'categories' }),
  field('product', 'Ref', { ref: 'products' }),
]);
const boards = collection('boards', [field('members', 'Array', list), field('open', 'Boolean')]);
const memberships = collection('memberships', [field('user', 'String'), field('team', 'String')]);
const categories = collection('categories', [field('open', 'Boolean')]);
const known = [tasks, boards, memberships, categories];

const explained = (rule: unknown, name: RuleName = 'read') => explainRule(name, rule, tasks, known).join(' ');

describe('a rule in plain English', () => {
  test.each<[RuleName, unknown, string]>([
    ['read', true, 'Anyone may read, signed in or not.'],
    ['read', false, 'Only your server may read.'],
    ['create', false, 'Only your server may insert.'],
    ['read', { $user: {} }, 'Signed-in users may read.'],
    ['get', { author: { $user: '_id' } }, 'Users whose id is `author` may read single documents.'],
    ['list', { author: { $user: '_id' } }, 'Users whose id is `author` may list.'],
    ['create', { author: { $user: '_id' } }, 'Users whose id is `author` may insert.'],
    ['update', { author: { $user: '_id' } }, 'Users whose id is `author` may update.'],
    ['before', { author: { $user: '_id' } }, 'Users whose id is `author` may update.'],
    ['after', { author: { $user: '_id' } }, 'The result is accepted from users whose id is `author`.'],
    ['after', { status: 'open' }, 'The result is accepted if `status` is "open".'],
    ['after', true, 'Any result is accepted.'],
    ['after', false, 'No result is accepted.'],
    ['delete', { author: { $user: '_id' } }, 'Users whose id is `author` may delete.'],
    ['readTrash', true, 'Anyone who may read a document also sees it in the trash.'],
    ['readTrash', false, 'Only your server sees documents in the trash.'],
    ['readTrash', { $user: {} }, 'Signed-in users also see documents in the trash.'],
    ['recover', { $user: {} }, 'Signed-in users may recover from the trash.'],
    ['purge', true, 'Anyone who may delete a document may also delete it permanently.'],
    ['purge', { $user: {} }, 'Signed-in users may delete permanently.'],
  ])('names who %s when the rule is %j', (name, rule, sentence) => {
    expect(explained(rule, name)).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [{ published: true }, 'Anyone may read if `published` is true.'],
    [{ status: null }, 'Anyone may read if `status` is empty.'],
    [{ status: { $ne: null } }, 'Anyone may read if `status` is not empty.'],
    [{ price: { $gt: 1, $lte: 9 } }, 'Anyone may read if `price` is greater than 1 and `price` is at most 9.'],
    [{ price: { $gte: 1 } }, 'Anyone may read if `price` is at least 1.'],
    [{ price: { $lt: 1 } }, 'Anyone may read if `price` is less than 1.'],
    [{ due: { $lt: '2030-01-01' } }, 'Anyone may read if `due` is before "2030-01-01".'],
    [{ status: { $in: ['a', 'b', 'c'] } }, 'Anyone may read if `status` is one of "a", "b" or "c".'],
    [{ status: { $in: ['a'] } }, 'Anyone may read if `status` is "a".'],
    [{ status: { $nin: ['a', 'b'] } }, 'Anyone may read if `status` is not one of "a" or "b".'],
    [{ price: { $in: [1, 2, 3, 4, 5, 6, 7, 8] } }, 'Anyone may read if `price` is one of 1, 2, 3, 4, 5 or 3 more.'],
    [{ status: { $exists: true } }, 'Anyone may read if `status` is set.'],
    [{ status: { $exists: false } }, 'Anyone may read if `status` is not set.'],
    [{ tags: 'red' }, 'Anyone may read if `tags` contains "red".'],
    [{ tags: { $ne: 'red' } }, 'Anyone may read if `tags` does not contain "red".'],
    [{ tags: { $in: ['a', 'b'] } }, 'Anyone may read if `tags` contains one of "a" or "b".'],
    [{ tags: { $all: ['a', 'b'] } }, 'Anyone may read if `tags` contains all of "a", "b".'],
    [{ tags: { $size: 1 } }, 'Anyone may read if `tags` has 1 element.'],
    [{ title: { $contains: 'x' } }, 'Anyone may read if `title` contains the text "x".'],
    [{ title: { $startsWith: 'x' } }, 'Anyone may read if `title` starts with "x".'],
    [{ title: { $endsWith: 'x' } }, 'Anyone may read if `title` ends with "x".'],
    [
      { parts: { $elemMatch: { size: { $gt: 2 }, colour: 'red' } } },
      'Anyone may read if `parts` has an element for which `size` is greater than 2 and `colour` is "red".',
    ],
    [{ tags: { $elemMatch: { $startsWith: 'x' } } }, 'Anyone may read if `tags` has an element that starts with "x".'],
    [{ tags: { $every: { $in: ['a', 'b'] } } }, 'Anyone may read if every element of `tags` is one of "a" or "b".'],
    [{ parts: { $every: { size: 1 } } }, 'Anyone may read if for every element of `parts`, `size` is 1.'],
    [{ _id: 'a' }, 'Anyone may read if the id is "a".'],
  ])('reads a comparison with a value: %j', (rule, sentence) => {
    expect(explained(rule)).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [{ members: { $user: '_id' } }, 'Users whose id is in `members` may read.'],
    [{ author: { $ne: { $user: '_id' } } }, 'Users whose id is not `author` may read.'],
    [{ members: { $ne: { $user: '_id' } } }, 'Users whose id is not in `members` may read.'],
    [{ author: { $user: 'email' } }, 'Users whose verified email is `author` may read.'],
    [{ team: { $in: { $user: 'teams' } } }, 'Users whose `teams` contains `team` may read.'],
    [{ team: { $nin: { $user: 'teams' } } }, 'Users whose `teams` does not contain `team` may read.'],
    [{ tags: { $in: { $user: 'teams' } } }, 'Users whose `teams` and `tags` have a value in common may read.'],
    [{ tags: { $nin: { $user: 'teams' } } }, 'Users whose `teams` and `tags` have no value in common may read.'],
    [{ price: { $gt: { $user: 'level' } } }, 'Users whose `level` is less than `price` may read.'],
    [{ price: { $gte: { $user: 'level' } } }, 'Users whose `level` is at most `price` may read.'],
    [{ price: { $lt: { $user: 'level' } } }, 'Users whose `level` is greater than `price` may read.'],
    [{ price: { $lte: { $user: 'level' } } }, 'Users whose `level` is at least `price` may read.'],
    [{ title: { $contains: { $user: 'word' } } }, 'Users whose `word` is part of `title` may read.'],
    [{ title: { $startsWith: { $user: 'word' } } }, 'Users whose `word` is the beginning of `title` may read.'],
    [{ title: { $endsWith: { $user: 'word' } } }, 'Users whose `word` is the end of `title` may read.'],
    [
      { tags: { $every: { $in: { $user: 'teams' } } } },
      'Users may read if every element of `tags` is one of their `teams`.',
    ],
    [{ $user: { role: 'editor' } }, 'Users whose `role` is "editor" may read.'],
    [{ $user: { emailVerified: true } }, 'Users whose email is verified may read.'],
    [{ $user: { emailVerified: { $ne: true } } }, 'Users whose email is not verified may read.'],
    [{ $user: { isAnonymous: false } }, 'Users whose account is not anonymous may read.'],
    [
      { $user: { email: { $endsWith: '@a.example' } }, published: true },
      'Users whose verified email ends with "@a.example" may read if `published` is true.',
    ],
    [{ $user: {}, published: true }, 'Signed-in users may read if `published` is true.'],
    [{ $user: { team: { $doc: 'team' } } }, 'Users whose `team` is `team` of the document may read.'],
    [
      { $user: { $or: [{ role: 'editor' }, { role: 'admin' }] } },
      'Users whose `role` is "editor" may read. Users whose `role` is "admin" may read.',
    ],
  ])('reads $user: %j', (rule, sentence) => {
    expect(explained(rule)).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [
      { $ref: { board: { members: { $user: '_id' } } } },
      'Users whose id is in `members` of the board that `board` points to may read.',
    ],
    [{ $ref: { board: { open: true } } }, 'Anyone may read if `open` of the board that `board` points to is true.'],
    [
      { $ref: { category: { open: true } } },
      'Anyone may read if `open` of the document of `categories` that `category` points to is true.',
    ],
    [
      { $ref: { board: { _id: { $in: ['a', 'b'] } } } },
      'Anyone may read if the id of the board that `board` points to is one of "a" or "b".',
    ],
  ])('reads $ref: %j', (rule, sentence) => {
    expect(explained(rule)).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [{ status: { $doc: 'title' } }, 'Anyone may insert if `status` is `title`.'],
    [
      { price: { $doc: 'product.price' } },
      'Anyone may insert if `price` is `price` of the product that `product` points to.',
    ],
    [{ due: { $gt: { $now: 0 } } }, 'Anyone may insert if `due` is after now.'],
    [{ due: { $lte: { $now: 86_400_000 } } }, 'Anyone may insert if `due` is at or before 1 day from now.'],
    [{ due: { $gte: { $now: -7_200_000 } } }, 'Anyone may insert if `due` is at or after 2 hours ago.'],
    [{ due: { $lt: { $now: -90_000 } } }, 'Anyone may insert if `due` is before 90 seconds ago.'],
    [
      { team: { $in: { $from: 'memberships', select: 'team', where: { user: { $user: '_id' }, role: 'admin' } } } },
      'Users may insert if `team` is the `team` of a document of `memberships` for which `user` is their id and `role` is "admin".',
    ],
    [
      { team: { $nin: { $from: 'memberships', select: '_id', where: { team: { $doc: 'team' } } } } },
      'Anyone may insert if `team` is not the id of any document of `memberships` for which `team` is `team` of the document.',
    ],
    [
      { tags: { $in: { $from: 'memberships', select: 'team' } } },
      'Anyone may insert if `tags` contains the `team` of a document of `memberships`.',
    ],
  ])('reads $doc, $now and $from: %j', (rule, sentence) => {
    expect(explained(rule, 'create')).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [{ price: { $stored: 'price' } }, 'The result is accepted if `price` does not change.'],
    [{ price: { $ne: { $stored: 'price' } } }, 'The result is accepted if `price` changes.'],
    [{ likes: { $stored: 'likes', plus: 1 } }, 'The result is accepted if `likes` goes up by exactly 1.'],
    [{ likes: { $stored: 'likes', plus: -2 } }, 'The result is accepted if `likes` goes down by exactly 2.'],
    [
      { likes: { $gte: { $stored: 'likes' } } },
      'The result is accepted if `likes` is at least what it was before the update.',
    ],
    [
      { likes: { $lt: { $stored: 'price', plus: 3 } } },
      'The result is accepted if `likes` is less than what `price` was before the update plus 3.',
    ],
    [
      { members: { $stored: 'members', adds: { $user: '_id' } } },
      'The result is accepted from users if `members` gains their id and nothing else changes in it.',
    ],
    [
      { tags: { $stored: 'tags', removes: 'red' } },
      'The result is accepted if `tags` loses "red" and nothing else changes in it.',
    ],
    [
      { tags: { $stored: 'members', adds: 'red' } },
      'The result is accepted if `tags` is what `members` was before the update with "red" added.',
    ],
    [
      { $stored: { status: 'open' }, status: 'done', $only: ['status', 'title'] },
      'The result is accepted if before the update, `status` is "open" and `status` is "done" and no field changes except `status`, `title`.',
    ],
    [{ $only: [] }, 'The result is accepted if no field changes.'],
  ])('reads $stored and $only: %j', (rule, sentence) => {
    expect(explained(rule, 'after')).toBe(sentence);
  });

  test.each<[unknown, string]>([
    [
      { $or: [{ published: true }, { author: { $user: '_id' } }, { $user: { role: 'editor' } }] },
      'Anyone may read if `published` is true. Users whose id is `author` may read. Users whose `role` is "editor" may read.',
    ],
    [
      { published: true, $or: [{ author: { $user: '_id' } }, { status: 'open' }] },
      'Users whose id is `author` may read if `published` is true. Anyone may read if `published` is true and `status` is "open".',
    ],
    [
      { $and: [{ author: { $user: '_id' } }, { members: { $user: '_id' } }] },
      'Users whose id is `author` and whose id is in `members` may read.',
    ],
    [
      { $not: { status: 'open' }, published: true },
      'Anyone may read if (it is not true that `status` is "open") and `published` is true.',
    ],
    [{ $not: { status: 'open' } }, 'Anyone may read if it is not true that `status` is "open".'],
    [
      { $not: { $or: [{ author: { $user: '_id' } }, { $user: {} }] } },
      'Users may read if it is not true that (`author` is their id or they are signed in).',
    ],
  ])('reads alternatives and negations: %j', (rule, sentence) => {
    expect(explained(rule)).toBe(sentence);
  });

  test('is one sentence with its alternatives in parentheses when there are many', () => {
    const two = (key: string) => ({ $or: [{ [key]: 1 }, { [key]: 2 }] });
    expect(explained({ $and: [two('price'), two('likes'), two('status')] })).toBe(
      'Anyone may read if (`price` is 1 or `price` is 2) and (`likes` is 1 or `likes` is 2) and (`status` is 1 or `status` is 2).',
    );
  });

  test('treats one value of the user as a list of one', () => {
    const users = collection('users', [field('role', 'String'), field('teams', 'Array', list)]);
    const said = (rule: unknown) => explainRule('read', rule, tasks, [...known, users]);
    expect(said({ team: { $in: { $user: 'role' } } })).toEqual(['Users whose `role` is `team` may read.']);
    expect(said({ team: { $nin: { $user: '_id' } } })).toEqual(['Users whose id is not `team` may read.']);
    expect(said({ team: { $in: { $user: 'teams' } } })).toEqual(['Users whose `teams` contains `team` may read.']);
  });

  test('names an owner field that the schema does not list', () => {
    const notes = collection('notes', [], { enabled: true, mode: 'rules', ownerField: 'by' });
    expect(explainRule('read', { by: { $user: '_id' } }, notes)).toEqual(['Users whose id is `by` may read.']);
  });

  test.each<[string, unknown]>([
    ['it is empty', {}],
    ['it is no object', 'x'],
    ['it is null', null],
    ['an operand is not known', { a: { $unknown: 1 } }],
    ['an operand has no path', { a: { $user: 1 } }],
    ['an operator is not known', { a: { $eq: 1, $regex: 'x' } }],
    ['an alternative is empty', { $or: [] }],
    ['a key is not known', { $unless: {} }],
    ['$from has no field', { a: { $in: { $from: 'boards' } } }],
    ['$from follows another operator', { a: { $eq: { $from: 'boards', select: '_id' } } }],
    ['a reference is empty', { $ref: {} }],
    ['$now is no number', { a: { $lt: { $now: 'soon' } } }],
    ['$doc is no text', { a: { $doc: 1 } }],
    ['$stored is no text', { a: { $stored: 1 } }],
    ['$only is no list', { $only: 'a' }],
    ['a list is none', { a: { $in: 'b' } }],
    ['$all is no list', { a: { $all: 'b' } }],
  ])('is not explained when %s', (_, rule) => {
    expect(explainRule('read', rule, tasks, known)).toEqual([]);
  });
});

describe('the card of a collection', () => {
  const none = { read: false, create: false, update: false, delete: false };

  test.each<[string, Partial<RowSecurity>]>([
    ['public', { enabled: false }],
    ['public', { enabled: false, mode: 'private' }],
    ['public', { enabled: true, mode: 'public-read' }],
    ['owner', { enabled: true, mode: 'private' }],
    ['signed-in', { enabled: true, mode: 'signed-in' }],
    ['server', { enabled: true, mode: 'rules' }],
    ['server', { enabled: true, mode: 'rules', rules: none }],
    ['rules', { enabled: true, mode: 'rules', rules: { ...none, read: true } }],
    ['rules', { enabled: true, mode: 'rules', rules: { delete: { a: 1 } } }],
  ])('is %s when row security is %j', (kind, rls) => {
    expect(kindOf(collection('x', null, rls).rls)).toBe(kind);
  });

  test('describes a fixed mode like the rules that it equals', () => {
    const lines = (rls: Partial<RowSecurity>) => accessLines(collection('x', null, rls).rls, tasks, []);
    const owner = { userId: { $user: '_id' } };
    const rules = { read: owner, create: { $user: {} }, update: owner, delete: owner };
    expect(lines({ enabled: true, mode: 'private' })).toEqual(lines({ enabled: true, mode: 'rules', rules }));
    expect(lines({ enabled: true, mode: 'rules', rules: { read: { get: true }, update: { after: {} } } })).toEqual({
      read: ['Anyone may read single documents, signed in or not.', 'Only your server may list.'],
      create: ['Only your server may insert.'],
      update: undefined,
      delete: ['Only your server may delete.'],
    });
  });

  test.each<[Partial<RowSecurity>]>([
    [{ enabled: true, mode: 'private', ownerField: 'by', trash: 'owner', requires: 'mfa' }],
    [{ enabled: true, mode: 'signed-in' }],
    [{ enabled: true, mode: 'public-read' }],
    [{ enabled: true, mode: 'rules', ownerField: '', rules: { ...none, read: true } }],
    [
      {
        ...{ enabled: true, mode: 'rules', ownerField: 'by', trash: 'owner' },
        rules: {
          read: { get: { by: { $user: '_id' } }, list: { $user: {} } },
          create: { by: 1 },
          update: { before: true, after: { by: { $stored: 'by' } } },
          delete: false,
          readTrash: false,
          recover: { $user: {} },
          purge: false,
        },
      },
    ],
  ])('saves what it shows, unchanged: %j', (rls) => {
    const { rls: whole } = collection('x', null, rls);
    expect(bodyOf(draftOf(whole))).toEqual(whole);
  });

  test('is not saved when a rule is no JSON, or the owner of no field', () => {
    const { rls } = collection('x', null, { enabled: true, mode: 'rules', ownerField: '', rules: { read: true } });
    const draft = draftOf(rls);
    const withRead = (choice: 'custom' | 'owner', text: string) => () =>
      bodyOf({ ...draft, rules: { ...draft.rules, read: { choice, text } } });
    expect(withRead('custom', 'x')).toThrow('A rule must be a JSON object');
    expect(withRead('custom', '[]')).toThrow('A rule must be a JSON object');
    expect(withRead('owner', '')).toThrow('Enter the owner field');
    expect(withRead('custom', 'false')()).toMatchObject({ rules: { read: false } });
  });
});

describe('a rule that was tried', () => {
  const brief = ({ text, outcome, of }: OutcomeNode): unknown =>
    of.length > 0 ? [text, outcome, of.map(brief)] : [text, outcome];
  const tried = (operation: Parameters<typeof triedRules>[0], rls: Partial<RowSecurity>, parts: readonly Part[]) => {
    const own = { ...tasks, rls: { ...noRowSecurity, enabled: true, ...rls } };
    return triedRules(operation, own, known, parts).map(({ title, node }) => [title, brief(node)]);
  };
  const part = (path: string, outcome: Part['outcome']): Part => ({ path, outcome });

  test('marks each comparison, and each group with the result of its parts', () => {
    const read = {
      $or: [
        { published: true },
        { $not: { status: 'open' } },
        { $ref: { board: { open: true, members: { $user: '_id' } } } },
        { $user: { role: 'editor', level: 2 } },
      ],
    };
    const parts = [
      part('rules.read.$or.0.published', 'false'),
      part('rules.read.$or.1.$not.status', 'true'),
      part('rules.read.$or.2.$ref.board', 'false'),
      part('rules.read.$or.3.$user', 'unknown'),
    ];
    expect(tried('get', { mode: 'rules', rules: { read } }, parts)).toEqual([
      [
        'Read',
        [
          'At least one of these',
          'unknown',
          [
            ['`published` is true', 'false'],
            ['Not this', 'false', [['`status` is "open"', 'true']]],
            [
              '`open` of the board that `board` points to is true and `members` of the board that `board` points to contains their id',
              'false',
            ],
            [
              'All of these',
              'unknown',
              [
                ['their `role` is "editor"', 'unknown'],
                ['their `level` is 2', 'unknown'],
              ],
            ],
          ],
        ],
      ],
    ]);
  });

  test('is shown before and after an update, for each half or twice for a single rule', () => {
    const update = { status: 'open' };
    const twice = [part('rules.update.status', 'true'), part('rules.update.status', 'false')];
    expect(tried('update', { mode: 'rules', rules: { update } }, twice)).toEqual([
      ['Document before the update', ['`status` is "open"', 'true']],
      ['Document after the update', ['`status` is "open"', 'false']],
    ]);
    const halves = [part('rules.update.before.status', 'true'), part('rules.update.after', 'true')];
    expect(tried('update', { mode: 'rules', rules: { update: { before: update } } }, halves)).toEqual([
      ['Update: document before', ['`status` is "open"', 'true']],
      ['Update: document after', ['Any result is accepted.', 'true']],
    ]);
  });

  test.each<[Parameters<typeof triedRules>[0], readonly string[], readonly string[]]>([
    ['list', ['rules.read.list.likes'], ['List']],
    ['get', ['rules.read.get.likes', 'rules.readTrash'], ['Get a document', 'Read the trash']],
    ['create', ['rules.create.likes'], ['Insert']],
    ['delete', ['rules.delete.likes'], ['Delete']],
    ['recover', ['rules.update.likes'], ['Update']],
    ['purge', ['rules.delete.likes', 'rules.purge.likes'], ['Delete', 'Delete permanently']],
  ])('for the operation %s requests %j', (operation, paths, titles) => {
    const rule = { likes: 1 };
    const rules = { read: { get: rule, list: rule }, create: rule, update: rule, delete: rule, purge: rule };
    const parts = paths.map((path) => part(path, 'true'));
    const found = tried(operation, { mode: 'rules', rules }, parts);
    expect(found.map(([title]) => title)).toEqual(titles);
    expect(found[0]?.[1]).toEqual(['`likes` is 1', 'true']);
  });

  test('of a fixed mode is the equal rule, and missing without row security', () => {
    const denied = [part('rules', 'false')];
    expect(tried('get', { mode: 'private' }, denied)).toEqual([['Read', ['`userId` is their id', 'false']]]);
    expect(tried('update', { mode: 'signed-in' }, denied)).toEqual([['Update', ['`userId` is their id', 'false']]]);
    expect(tried('get', { enabled: false }, [])).toEqual([]);
  });
});

describe('the parts of a rule', () => {
  const labels = (name: RuleName, own: Collection, more: readonly Collection[] = []) => {
    const { fields, values, conditions } = partsFor(name, own, [...known, ...more]);
    return [fields, values, conditions].map((group) => group.map(({ label }) => label));
  };

  test('are the fields of the schema, with nested ones, and the operands allowed there', () => {
    const places = field('place', 'Object', { fields: [field('city', 'String')] });
    const plain = collection('plain', [field('a', 'String'), places]);
    const [fields, values, conditions] = labels('read', plain);
    expect(fields).toEqual(['a', 'place', 'place.city', '_id', 'createdAt', 'updatedAt']);
    expect(values).toEqual(['$user: "_id"', '$now', '$doc', '$in', '$from']);
    expect(conditions).toEqual(['$or', '$and', '$not', '$user']);
    expect(labels('after', tasks)[1]).toContain('$stored');
    expect(labels('after', tasks)[2]).toEqual(['$or', '$and', '$not', '$user', '$ref', '$stored: {…}', '$only']);
  });

  test('name the fields of users that users cannot set themselves', () => {
    const users = collection('users', [
      field('email', 'String'),
      field('nickname', 'String'),
      field('invitedBy', 'String', { write: 'create' }),
      field('role', 'String', { write: 'server' }),
      field('teams', 'Array', { ...list, write: 'server' }),
    ]);
    const { values } = partsFor('read', tasks, [users]);
    const named = values.filter(({ label }) => label.startsWith('$user'));
    expect(named.map(({ label, value }) => [label, value])).toEqual([
      ['$user: "_id"', '{ "$user": ‹"_id"› }'],
      ['$user: "role"', '{ "$user": ‹"role"› }'],
      ['$user: "teams"', '{ "$in": { "$user": ‹"teams"› } }'],
    ]);
  });

  test('are each valid JSON once inserted', () => {
    for (const name of ['read', 'after'] as const) {
      const { fields, values, conditions } = partsFor(name, tasks, known);
      for (const part of [...fields, ...conditions]) {
        expect(() => JSON.parse(`{${insertionOf(part, '{', '}').text}}`), part.label).not.toThrow();
      }
      for (const part of [...fields, ...values, ...conditions]) {
        expect(() => JSON.parse(`{"a": ${insertionOf(part, '{"a": ', '}').text}}`), part.label).not.toThrow();
      }
    }
  });
});

describe('a part inserted into JSON', () => {
  const author = { key: 'author', value: '‹1›', asValue: '"author"' };
  const inserted = (part: Parameters<typeof insertionOf>[0], before: string, after: string) => {
    const { text, from, to } = insertionOf(part, before, after);
    return [before + text + after, text.slice(from, to)];
  };

  test.each([
    [author, '{', '}', '{"author": 1}', '1'],
    [author, '{"a": 1', '}', '{"a": 1, "author": 1}', '1'],
    [author, '{', '"a": 1}', '{"author": 1, "a": 1}', '1'],
    [author, '{"a": ', '}', '{"a": "author"}', ''],
    [{ key: '$or', value: '[‹{}›]' }, '{"$not": ', '}', '{"$not": { "$or": [{}] }}', '{}'],
    [{ key: '$not', value: '‹{}›' }, '{"$or": [{}', ']}', '{"$or": [{}, { "$not": {} }]}', '{}'],
    [author, '{"tags": {"$in": ["[{", ', ']}}', '{"tags": {"$in": ["[{", "author"]}}', ''],
    [author, '{"a": {}', '}', '{"a": {}, "author": 1}', '1'],
    [{ value: '{"$user": ‹"_id"›}' }, '{"a": ', '}', '{"a": {"$user": "_id"}}', '"_id"'],
    [{ value: '{"$user": "_id"}' }, '', '', '{"$user": "_id"}', ''],
    [{ key: '$or', value: '[‹{}›]' }, '', '', '{ "$or": [{}] }', '{}'],
    [author, '', ' ', '{ "author": 1 } ', '1'],
  ])('%j is inserted between %s and %s', (part, before, after, whole, selected) => {
    expect(inserted(part, before, after)).toEqual([whole, selected]);
  });
});
