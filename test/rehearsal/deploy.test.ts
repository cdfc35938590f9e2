import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlIndexes } from '../../shared/control-indexes.ts';
import { jobsBesideCloudFront, routePermissions } from '../infra/all-permissions.ts';
import { pythonTools } from '../support/clients/python-tools.ts';
import { asTheTablesSay } from './as-the-tables-say.ts';
import { apiOf, inOrder } from './compare.ts';
import type { Inventory } from './inventory.ts';
import { type Rehearsal, startRehearsal } from './rehearsal.ts';

const python = await pythonTools(join(import.meta.dirname, 'requirements.txt'));

const deploy = ['npm', 'run', 'deploy', '--silent', '--', '--require-approval', 'never', '--concurrency', '5'];

const domains = {
  publicDomain: 'api.example.com',
  dashboardDomain: 'dashboard.example.com',
  filesDomain: 'files.example.com',
  consoleDomain: 'console.example.com',
};

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

    // If the emulator accepted these, the rehearsal would succeed although a deployment to AWS fails.
    test('rejects what CloudFormation rejects, and rolls back', async () => {
      expect(await rehearsal.emulator.ask('refusals')).toEqual({
        giver: 'CREATE_COMPLETE: ',
        taker: 'CREATE_COMPLETE: ',
        'unknown type': expect.stringMatching(/^refused: .*Unrecognized resource types: \['AWS::SNS::Tropic'\]/),
        'unknown export': expect.stringMatching(/^ROLLBACK_COMPLETE: .*No export named nobody's found/),
        'export in use, removed':
          'UPDATE_ROLLBACK_COMPLETE: Export given-topic cannot be deleted as it is in use by Taker',
        'export in use, deleted': expect.stringMatching(/^DELETE_FAILED: .*given-topic as it is in use by Taker/),
        'property misspelt': expect.stringMatching(/^UPDATE_ROLLBACK_COMPLETE: .*AlarmNane is unknown to the service/),
        topics: 1,
        protected: 'refused: Stack [Taker] cannot be deleted while TerminationProtection is enabled',
        'taker, deleted': 'gone',
        'giver, deleted': 'gone',
        'topics left': 0,
      });
    });

    describe('default deployment', () => {
      let said = '';
      beforeAll(async () => {
        await rehearsal.bootstrap();
        said = await rehearsal.command([...deploy, '-c', 'alarmEmail=ops@example.com'], {
          MONGODB_URI: rehearsal.mongoUri,
        });
        first = await rehearsal.emulator.inventory();
      });

      asTheTablesSay(() => first);

      test('prints the addresses of the account at its end', () => {
        const { stacks } = first;
        for (const [stack, output] of [
          ['Console', 'Url'],
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

      test('creates the indexes of the control database', async () => {
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

      test('uploads the console with types and cache headers', () => {
        const [pages = {}, ...others] = first.pages;
        expect(others).toEqual([]);
        expect(pages['site/index.html']).toEqual({ type: 'text/html; charset=utf-8', cache: 'no-cache' });
        expect(pages['site/console.json']).toEqual({ type: 'application/json', cache: 'no-cache' });
        const kept = Object.entries(pages).filter(([key]) => key.startsWith('site/assets/'));
        expect(kept.length).toBeGreaterThan(5);
        expect(new Set(kept.map(([, { cache }]) => cache))).toEqual(new Set(['public, max-age=31536000, immutable']));
      });

      test('gives the dashboard API the secret and the origin of the console', () => {
        const { Url } = first.stacks['Basalt-Console']?.outputs ?? {};
        const variables = Object.values(first.functions).map((one) => one.variables);
        const valuesOf = (name: string) => [...new Set(variables.flatMap((one) => one[name] ?? []))];
        for (const name of ['DASHBOARD_URL', 'DASHBOARD_ORIGINS', 'DASHBOARD_API_URL']) {
          expect([name, valuesOf(name)]).toEqual([name, [Url]]);
        }
        expect(first.edgeSecrets.length).toBeGreaterThan(0);
        expect([...new Set(first.edgeSecrets)]).toEqual(valuesOf('VIEWER_SECRET'));
        expect(first.edgeSecrets[0]).toMatch(/^[A-Za-z0-9]{43}$/);
      });

      test('subscribes alarmEmail to the alarms', () => {
        expect(first.subscriptions).toEqual([{ topic: first.topics[0], endpoint: 'ops@example.com' }]);
      });
    });

    describe('later deployment with domains, fixed addresses and another limit', () => {
      let changed: Inventory;
      beforeAll(async () => {
        const ids = await rehearsal.emulator.ask<Record<string, string>>('prepare_domains', 'example.com');
        const settings = { ...ids, ...domains, hostedZoneName: 'example.com', egress: 'nat', rateLimit: '1000' };
        await rehearsal.command([
          ...deploy,
          ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
        ]);
        changed = await rehearsal.emulator.inventory();
      });

      asTheTablesSay(() => changed);

      test('changes existing resources in place', () => {
        const lasting = ({
          apis,
          functions,
          tables,
          secrets,
          buckets,
          queues,
          distributions,
          topics,
          logGroups,
        }: Inventory) => ({
          apis: apis.map(({ id }) => id).sort(),
          functions: Object.keys(functions).sort(),
          distributions: distributions.map(({ Id }) => Id),
          logs: Object.keys(logGroups).sort(),
          ...{ tables, secrets, buckets, queues, topics },
        });
        expect(lasting(changed)).toEqual(lasting(first));
      });

      test('points the domains to gateways, files and console', () => {
        const { domains: mapped, stacks, distributions } = changed;
        const apiIds = Object.fromEntries(Object.entries(mapped).map(([name, [mapping]]) => [name, mapping?.ApiId]));
        expect(apiIds).toEqual({
          [domains.publicDomain]: apiOf(changed, 'Basalt-PublicApi').id,
          [domains.dashboardDomain]: apiOf(changed, 'Basalt-DashboardApi').id,
        });
        const domainOf = (comment: string) => distributions.find((one) => one.comment === comment);
        const [files, pages] = [domainOf('The public files'), domainOf('The console and the dashboard API')];
        expect([files?.aliases, pages?.aliases]).toEqual([[domains.filesDomain], [domains.consoleDomain]]);
        const targets = {
          [domains.publicDomain]: stacks['Basalt-PublicApi']?.outputs.DomainTarget,
          [domains.dashboardDomain]: stacks['Basalt-DashboardApi']?.outputs.DomainTarget,
          [domains.filesDomain]: files?.domain,
          [domains.consoleDomain]: pages?.domain,
        };
        const records = Object.entries(targets).flatMap(([name, target]) =>
          ['A', 'AAAA'].map((Type) => ({ Name: `${name}.`, Type, target })),
        );
        const read = changed.records.map(({ Name, Type, target }) => ({
          Name,
          Type,
          target: target.replace(/\.$/, ''),
        }));
        expect(inOrder(read)).toEqual(inOrder(records));
      });

      test('gives every function the new limit and addresses', () => {
        const variables = Object.values(changed.functions).map((one) => one.variables);
        const valuesOf = (name: string) => [...new Set(variables.flatMap((one) => one[name] ?? []))];
        expect(valuesOf('RATE_LIMIT')).toEqual(['1000']);
        expect(valuesOf('PUBLIC_URL')).toEqual([`https://${domains.publicDomain}`]);
        expect(valuesOf('DASHBOARD_API_URL')).toEqual([`https://${domains.consoleDomain}`]);
        // The function that creates image sizes belongs to the stack of files and returns no address.
        const filesUrls = [`https://${domains.filesDomain}`, 'https://files.invalid'];
        expect(valuesOf('FILES_URL').sort()).toEqual(filesUrls.sort());
      });

      test('sends only database traffic through the two addresses', () => {
        const { outputs = {} } = changed.stacks['Basalt-Network'] ?? {};
        expect([...changed.addresses].sort()).toEqual([outputs.AddressA, outputs.AddressB].sort());
        expect(changed.networks).toHaveLength(1);
        const rows = [
          ...routePermissions
            .filter(({ area }) => area !== 'default')
            .map(({ route, permissions }) => ({ summary: route.summary, permissions, invoked: false })),
          ...jobsBesideCloudFront.map(({ id, job, permissions }) => ({
            summary: job.summary,
            permissions,
            // Each of the two that verify has one address.
            invoked: id.startsWith('verify-database'),
          })),
        ];
        const counts = Object.fromEntries(
          Object.values(changed.functions).map((one) => [one.description, one.subnets.length]),
        );
        const wanted = rows.map(({ summary, permissions, invoked }) => [
          summary,
          invoked ? 1 : permissions.includes('mongodb') ? 2 : 0,
        ]);
        expect(rows.map(({ summary }) => [summary, counts[summary]])).toEqual(wanted);
      });

      test('keeps settings that were not given again', () => {
        expect(changed.subscriptions).toEqual(first.subscriptions);
      });
    });

    describe('deployment that is taken down as in the guide', () => {
      let left: Inventory;
      beforeAll(async () => {
        await rehearsal.emulator.ask('allow_deletion', 'Basalt-Data', 'Basalt-Files', 'Basalt-Network');
        await rehearsal.command(['cdk', 'destroy', '--all', '--force']);
        left = await rehearsal.emulator.inventory();
      });

      test('keeps table, buckets, distribution, queues, secrets and addresses', () => {
        const { tables, buckets, distributions, queues } = first;
        const secrets = first.secrets.filter((name) => name.startsWith('Basalt-Data-'));
        expect(left).toMatchObject({ tables, buckets, queues, secrets });
        expect([tables.length, queues.length, secrets.length, left.addresses.length]).toEqual([1, 6, 6, 2]);
        const files = distributions.filter(({ comment }) => comment === 'The public files');
        expect(left.distributions.map(({ Id }) => Id)).toEqual(files.map(({ Id }) => Id));
      });

      test('keeps nothing else', () => {
        const { stacks, roles, functions, apis, domains: names, mappings, rules, records, logGroups } = left;
        expect(Object.keys(stacks)).toEqual(['CDKToolkit']);
        expect(roles.filter((role) => !role.startsWith('cdk-'))).toEqual([]);
        expect({ functions, names, logGroups }).toEqual({ functions: {}, names: {}, logGroups: {} });
        const { alarms, topics, subscriptions, networks } = left;
        const gone = { apis, mappings, rules, records, alarms, topics, subscriptions, networks };
        expect(Object.entries(gone).filter(([, list]) => list.length > 0)).toEqual([]);
      });
    });
  });
}
