import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlIndexes } from '../../shared/control/control-indexes.ts';
import { pythonTools } from '../support/python-tools.ts';
import { asTheTablesSay } from './as-the-tables-say.ts';
import { apiOf } from './compare.ts';
import type { Inventory } from './inventory.ts';
import { type Rehearsal, startRehearsal } from './rehearsal.ts';

const python = await pythonTools(join(import.meta.dirname, 'requirements.txt'));

const deploy = ['npm', 'run', 'deploy', '--silent', '--', '--require-approval', 'never', '--concurrency', '5'];

if ('missing' in python) {
  test('npm run deploy', ({ skip }) => skip(`not run, as ${python.missing}`));
} else {
  describe('an account of AWS, by npm run deploy', () => {
    let rehearsal: Rehearsal;
    let first: Inventory;

    beforeAll(async () => {
      rehearsal = await startRehearsal(join(python.bin, 'python3'));
    });
    afterAll(() => rehearsal?.stop());

    describe('the default deployment', () => {
      let said = '';
      beforeAll(async () => {
        await rehearsal.bootstrap();
        said = await rehearsal.command([...deploy, '-c', 'alarmEmail=ops@example.com'], {
          MONGODB_URI: rehearsal.mongoUri,
        });
        first = await rehearsal.emulator.inventory();
      });

      asTheTablesSay(() => first);

      test('it ends with the addresses that the account has', () => {
        const { stacks } = first;
        for (const [stack, output] of [
          ['PublicApi', 'Url'],
          ['DashboardApi', 'Url'],
          ['Routes-mail-webhook', 'receivewebhookurl'],
          ['Files', 'FilesUrl'],
          ['Watch', 'AlarmTopicArn'],
        ] as const) {
          const value = stacks[`Basalt-${stack}`]?.outputs[output];
          expect([stack, value]).toEqual([stack, expect.stringMatching(/^(https|arn):/)]);
          expect(said).toContain(` ${value}`);
        }
        expect(apiOf(first, 'Basalt-PublicApi').endpoint).toBe(stacks['Basalt-PublicApi']?.outputs.Url);
      });

      test('the function of the deployment has made the indexes of the control database', async () => {
        const client = await new MongoClient(rehearsal.mongoUri).connect();
        try {
          for (const [name, indexes] of Object.entries(controlIndexes)) {
            const made = await client.db('control').collection(name).indexes();
            expect([name, made.map((index) => index.name).sort()]).toEqual([
              name,
              ['_id_', ...indexes.map((index) => index.name)].sort(),
            ]);
          }
        } finally {
          await client.close();
        }
      });

      test('the address of alarms is asked whether it wants them', () => {
        expect(first.subscriptions).toEqual([{ topic: first.topics[0], endpoint: 'ops@example.com' }]);
      });
    });
  });
}
