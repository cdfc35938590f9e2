import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Collection } from '../../../../shared/collections/collection.ts';
import { parseRules } from '../../../../shared/collections/rules/parse-rules.ts';
import type { RulesInput } from '../../../../shared/collections/rules/rule.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import type { AccessContext } from '../../../../shared/documents/access/access.ts';
import { filterReadable, listDecider, mayGet, requireGet } from '../../../../shared/documents/access/reading.ts';
import {
  type Applied,
  type DocumentWrite,
  decideWrite,
  requireCreate,
  requireCreateAccess,
} from '../../../../shared/documents/access/writing.ts';
import type { Document, JsonObject } from '../../../../shared/documents/document.ts';
import { matches } from '../../../support/data/mongo-filter.ts';
import { type ModelContext, outcomeOf } from '../../../support/data/rule-model.ts';
import {
  afterRule,
  callers,
  free,
  freeDocument,
  freeRule,
  ids,
  known,
  readRule,
  typed,
  typedDocument,
  typedRule,
  writeRule,
} from '../../../support/data/rules.ts';
import { memory } from '../../../support/fixtures/memory-database.ts';
import { callerOf, codeOf, fill, underRules } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

/*
 * Each decision about random documents equals that of the model: about one document, of lists in the database and in
 * memory, and about writes, whose decision may be a condition of the database too.
 */

const now = Date.parse('2026-03-01T00:00:00Z');
const declaredLists = new Set(['tags', 'members', 'cards', 'cards.text']);

interface World {
  readonly documents: readonly Document[];
  readonly others: readonly Document[];
  readonly user: JsonObject | undefined;
}

const many = (document: fc.Arbitrary<JsonObject>) =>
  fc.array(document, { minLength: 3, maxLength: 7 }).map((documents) =>
    documents.map(
      (each, at): Document => ({
        ...each,
        _id: new ObjectId(ids[at] ?? at.toString(16).padStart(24, '0')),
        ...(at % 3 === 2 && { isDeleted: true }),
      }),
    ),
  );
const typedWorld = fc.record({ documents: many(typedDocument), others: many(freeDocument), user: callers });
const freeWorld = fc.record({ documents: many(freeDocument), others: many(freeDocument), user: callers });

/** The context of a rule that can be saved. */
const enter = (collection: Collection, { documents, others, user }: World, rules: RulesInput): AccessContext => {
  const context = underRules(rules, callerOf(user), {}, collection);
  fill({ free: others, [collection.name]: documents }, user);
  try {
    parseRules(context.collection, known, rules);
  } catch {
    fc.pre(false);
  }
  return context;
};

const model = (context: AccessContext, { user }: World, rule: unknown, document: JsonObject, isStrict = false) => {
  const model: ModelContext = {
    document,
    user: user && 'isAnonymous' in user ? { level: 1, ...user } : user,
    now,
    isStrict,
    collection: context.collection.name,
    isDeclaredList: (name, path) => name === 'typed' && declaredLists.has(path),
    isDate: (name, path) => name === 'typed' && path === 'at',
    collections: memory.collections as ReadonlyMap<string, readonly JsonObject[]>,
    targets: 'typed',
  };
  return { outcome: outcomeOf(rule, model), with: (stored: JsonObject) => outcomeOf(rule, { ...model, stored }) };
};

const denied = ({ caller }: AccessContext, rule: unknown): string =>
  caller.userId === undefined && JSON.stringify(rule).includes('"$user"') ? 'TOKEN_MISSING' : 'RULE_DENIED';

const settings = { numRuns: Number(process.env.RULE_RUNS ?? 60), seed: Number(process.env.RULE_SEED ?? 1) };

beforeEach(() => {
  vi.spyOn(clock, 'now').mockReturnValue(now);
});

describe('reads equal the model', () => {
  test.each([
    ['with a schema', typed, typedWorld, readRule],
    ['without a schema', free, freeWorld, freeRule],
  ] as const)('%s', async (_title, collection, worlds, rules) => {
    await fc.assert(
      fc.asyncProperty(rules, rules, worlds, async (read, readTrash, world) => {
        const context = enter(collection, world, { read, readTrash });
        const allowed = world.documents.map((each) => model(context, world, read, each).outcome === true);
        const isShown = world.documents.map(
          (each) => each.isDeleted !== true || model(context, world, readTrash, each).outcome === true,
        );
        const shown = allowed.map((each, at) => each && isShown[at]);
        const got = await Promise.all(world.documents.map((each) => mayGet(context, each)));
        expect(got).toEqual(shown);
        const decider = await listDecider(context);
        expect(await Promise.all(world.documents.map(decider))).toEqual(allowed);
        for (const [withTrash, expected] of [
          [false, allowed],
          [true, shown],
        ] as const) {
          const listed = await outcomeOfList(context, withTrash, world.documents);
          // Only a user could be allowed.
          if (listed === 'TOKEN_MISSING') expect([world.user, ...allowed.filter(Boolean)]).toEqual([undefined]);
          else expect(listed).toEqual(expected);
          expect(await codeOf(requireGet(context, withTrash))).toBe(listed === 'TOKEN_MISSING' ? listed : 'done');
        }
      }),
      settings,
    );
  });
});

const outcomeOfList = async (context: AccessContext, withTrash: boolean, documents: readonly Document[]) => {
  try {
    const readable = await filterReadable(context, 'list', withTrash);
    return documents.map((each) => readable === undefined || matches(each, readable.condition));
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
};

describe('writes equal the model', () => {
  test('of an insert', async () => {
    await fc.assert(
      fc.asyncProperty(writeRule, typedDocument, typedWorld, async (create, document, world) => {
        const context = enter(typed, world, { create });
        const isAllowed = model(context, world, create, document, true).outcome === true;
        expect(await codeOf(requireCreate(context, document))).toBe(isAllowed ? 'done' : denied(context, create));
        if (isAllowed) expect(await codeOf(requireCreateAccess(context))).toBe('done');
      }),
      settings,
    );
  });

  test('of an update', async () => {
    const halves = fc.tuple(typedRule, writeRule, fc.oneof(afterRule, fc.constant(true)));
    await fc.assert(
      fc.asyncProperty(halves, typedDocument, typedWorld, async ([get, before, after], changes, world) => {
        const context = enter(typed, world, { read: { get }, update: { before, after } });
        const to = (document: Document): Document => ({ ...document, ...changes });
        const expected = world.documents.map((document) => {
          if (model(context, world, get, document).outcome !== true) return 'DOCUMENT_NOT_FOUND';
          if (model(context, world, before, document).outcome !== true) return denied(context, before);
          const isDone = model(context, world, after, to(document), true).with(document) === true;
          return isDone ? 'done' : denied(context, after);
        });
        await expectDecision(context, 'update', world, expected, { fields: new Set(Object.keys(changes)), to });
      }),
      settings,
    );
  });

  test.each(['delete', 'recover', 'purge'] as const)('of the operation %s', async (operation) => {
    await fc.assert(
      fc.asyncProperty(typedRule, writeRule, typedRule, typedWorld, async (get, rule, readTrash, world) => {
        const context = enter(typed, world, {
          ...{ read: { get }, readTrash },
          ...(operation === 'purge' ? { delete: true, purge: rule } : { [operation]: rule }),
        });
        const expected = world.documents.map((document) => {
          const isShown = document.isDeleted !== true || model(context, world, readTrash, document).outcome === true;
          const isReadable = isShown && model(context, world, get, document).outcome === true;
          if (!isReadable) return 'DOCUMENT_NOT_FOUND';
          return model(context, world, rule, document).outcome === true ? 'done' : denied(context, rule);
        });
        await expectDecision(context, operation, world, expected);
      }),
      settings,
    );
  });
});

/** Checks the decision about each document, and the condition that makes it in the database. */
const expectDecision = async (
  context: AccessContext,
  operation: DocumentWrite,
  { documents }: World,
  expected: readonly string[],
  applied?: Applied,
): Promise<void> => {
  const made = decideWrite(context, operation, applied);
  const rejected = await codeOf(made);
  if (rejected !== 'done') {
    // Only a user could be allowed.
    expect([rejected, context.caller.userId]).toEqual(['TOKEN_MISSING', undefined]);
    expect(expected).not.toContain('done');
    return;
  }
  const { condition, require } = await made;
  const codes = await Promise.all(documents.map((document) => codeOf(require(document, async () => undefined))));
  expect(codes).toEqual(expected);
  if (!condition) return;
  const isActive = ({ isDeleted }: Document): boolean => operation !== 'delete' || isDeleted !== true;
  for (const [at, document] of documents.entries())
    if (isActive(document)) expect([at, matches(document, condition)]).toEqual([at, expected[at] === 'done']);
};
