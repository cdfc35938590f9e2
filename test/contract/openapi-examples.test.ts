import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningS3, startExternalS3 } from '../support/clients/external-s3.ts';
import { LanguageModel } from '../support/clients/language-model.ts';
import { type RunningStack, startTestStack } from '../support/clients/start-stack.ts';
import { type WalkContext, walksOf } from '../support/fixtures/api-walk/context.ts';
import { walkDevelopers, walkMembers } from '../support/fixtures/api-walk/developers.ts';
import { walkMail, walkMarketing } from '../support/fixtures/api-walk/mail.ts';
import {
  walkDocuments,
  walkEnd,
  walkOthers,
  walkProject,
  walkTransfers,
} from '../support/fixtures/api-walk/projects.ts';
import { walkFiles, walkUsers } from '../support/fixtures/api-walk/users.ts';
import { walkWebhooks } from '../support/fixtures/api-walk/webhooks.ts';
import { type OwnDatabase, startOwnDatabase } from '../support/fixtures/own-database.ts';

let context: WalkContext;
let stack: RunningStack;
let model: LanguageModel;
let database: OwnDatabase;
let s3: RunningS3;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-openapi-'));
  [model, database, s3] = await Promise.all([
    LanguageModel.start(),
    startOwnDatabase(),
    startExternalS3(path.join(directory, 's3')),
  ]);
  stack = await startTestStack(path.join(directory, 'stack'), {
    RATE_LIMIT: '1000000',
    AI_BASE_URL: model.url,
    AI_API_KEY: 'sk-walk',
    PERMITTED_ADDRESSES: `${database.address},${s3.address}`,
  });
  const { address: _address, stop: _stop, ...externalS3 } = s3;
  const databaseUri = database.uri('shop', 'directConnection=true');
  context = { ...(await walksOf(stack)), stack, model, externalS3, databaseUri };
});

afterAll(async () => {
  await stack.stop();
  await Promise.all([model.close(), database.stop(), s3.stop()]);
  await rm(directory, { recursive: true, force: true });
});

describe('every example of both API descriptions gets the documented response', () => {
  test('developer accounts', () => walkDevelopers(context));
  test('projects and collections', () => walkProject(context));
  test('members and tokens', () => walkMembers(context));
  test('documents and the trash', () => walkDocuments(context));
  test('exports and imports', () => walkTransfers(context));
  test('end users', () => walkUsers(context));
  test('files', () => walkFiles(context));
  test('mail', () => walkMail(context));
  test('webhooks', () => walkWebhooks(context));
  test('audiences and broadcasts', () => walkMarketing(context));
  test('all that need no value of this service', () => walkOthers(context));

  test('401 without a key or token', async () => {
    for (const api of [context.open, context.dashboard]) {
      const isOpen = (way: object) => Object.keys(way).length === 0;
      const closed = api.operations.filter(({ security }) => security.length > 0 && !security.some(isOpen));
      await Promise.all(closed.map(({ operationId }) => api.refused(operationId, 401, {})));
    }
  });

  test('400 for a body that is not JSON, 413 for one that is too large', async () => {
    for (const api of [context.open, context.dashboard]) {
      const { publishableKey, secretKey, userToken, dashboardToken } = api.credentials;
      for (const { operationId, requestBody, security, responses } of api.operations) {
        if (!requestBody || operationId.includes('webhook')) continue;
        const key = security[0] && 'secretKey' in security[0] ? secretKey : publishableKey;
        const token = dashboardToken ?? userToken;
        const options = { ...(key && { key }), ...(token && { token }) };
        expect(responses).toHaveProperty('413');
        await api.refused(operationId, 400, { ...options, body: '{' });
        await api.refused(operationId, 413, {
          ...options,
          body: `"${'x'.repeat(operationId === 'run-batch' ? 4_300_000 : 1_100_000)}"`,
        });
      }
    }
  });

  test('statistics, connections and the deletion of the project', () => walkEnd(context));

  test('every operation was requested', () => {
    expect(context.open.missing).toEqual([]);
    expect(context.dashboard.missing).toEqual([]);
  });
});
