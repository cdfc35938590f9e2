import fc from 'fast-check';
import { type Document as MongoDocument, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Collection } from '../../../shared/collections/collection.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { parseRules } from '../../../shared/collections/rules/parse-rules.ts';
import type { Outcome } from '../../../shared/collections/rules/rule.ts';
import { bind } from '../../../shared/documents/access/bind.ts';
import { decide } from '../../../shared/documents/access/decide.ts';
import { filterOf } from '../../../shared/documents/access/filter-of.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { matches } from '../../support/data/mongo-filter.ts';
import {
  callers,
  free,
  freeDocument,
  freeRule,
  ids,
  known,
  typed,
  typedDocument,
  typedRule,
} from '../../support/data/rules.ts';
import { newProject } from '../../support/fixtures/project.ts';

/*
 * The database decides a rule for lists and the code decides it for one document. Both must agree on true and false for
 * every document and caller.
 */

let project: Project;

beforeAll(async () => {
  const made = await newProject([]);
  const found = await findProjectByKey(made.secretKey, 'secret');
  project = (found as { project: Project }).project;
});

const outcomes = async (
  collection: Collection,
  json: unknown,
  user: JsonObject | undefined,
  documents: readonly MongoDocument[],
) => {
  const { list } = parseRules(collection, known, { read: json });
  const binding = { project, caller: { kind: 'publishable' } as const, collection, known, user };
  const bound = await bind(list, binding);
  const decided = new Map<string, Outcome>(
    documents.map((document) => [String(document._id), decide(bound, { document, user })]),
  );
  const idsOf = async (wanted: boolean): Promise<readonly string[]> => {
    const filter = filterOf(bound, user, wanted);
    if (typeof filter === 'boolean') return filter ? [...decided.keys()] : [];
    const found = await onProject(project, (db) =>
      db
        .collection(collection.name)
        .find(filter, { projection: { _id: 1 } })
        .toArray(),
    );
    const listed = found.map(({ _id }) => String(_id));
    // The unit tests use this instead of a server.
    const expected = documents.filter((document) => matches(document, filter)).map(({ _id }) => String(_id));
    expect(listed.toSorted()).toEqual(expected.toSorted());
    return listed;
  };
  return { decided, whenTrue: await idsOf(true), whenFalse: await idsOf(false) };
};

const runs = Number(process.env.RULE_RUNS ?? 250);

describe('a rule as a database filter and as a decision in code', () => {
  test.each([
    ['with a schema', typed, typedDocument, typedRule],
    ['without a schema', free, freeDocument, freeRule],
  ] as const)('agree on every document %s', async (_title, collection, document, rule) => {
    const seed = Number(process.env.RULE_SEED ?? 0) || Date.now() % 1_000_000;
    const made = fc.sample(document, { numRuns: 100, seed });
    const documents = made.map((each, index) => ({ ...each, _id: new ObjectId(ids[index] ?? undefined) }));
    await onProject(project, async (db) => {
      await db.collection(collection.name).deleteMany({});
      await db.collection(collection.name).insertMany(documents);
    });
    await fc.assert(
      fc.asyncProperty(rule, callers, async (json, user) => {
        const { decided, whenTrue, whenFalse } = await outcomes(collection, json, user, documents);
        const by = (outcome: Outcome) =>
          [...decided]
            .filter(([, each]) => each === outcome)
            .map(([id]) => id)
            .sort();
        const show = (ids: readonly string[]) => documents.filter(({ _id }) => ids.includes(String(_id)));
        const differ = (one: readonly string[], two: readonly string[]) =>
          show([...one.filter((id) => !two.includes(id)), ...two.filter((id) => !one.includes(id))]);
        expect(differ(whenTrue, by(true))).toEqual([]);
        expect(differ(whenFalse, by(false))).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });
});
