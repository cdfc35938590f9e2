import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultRoutes } from '../../functions/default/routes.ts';
import { deployedJobs, jobs } from '../../functions/jobs/jobs.ts';
import { root } from '../../infra/build/function-files.ts';
import { linksOf, refusedBetween } from './stack-links.ts';
import {
  everything,
  type Json,
  ofType,
  type Resource,
  type Resources,
  routesOf,
  statementsOf,
  synthesise,
} from './synthesis.ts';

// Synthesis fails for any finding of the AWS Solutions rules.
const off = synthesise({ cloudFront: 'off' });
const added = synthesise({ cloudFront: 'added' });
const on = synthesise();

const stackOf = ({ stacks }: typeof off, name: string): Resources => stacks.get(`Basalt-${name}`) ?? new Map();

const only = (resources: Resources, type: string): readonly [string, Resource] => {
  const [entry, another] = [...ofType(resources, type)];
  if (!entry || another) throw new Error(`There should be one ${type}`);
  return entry;
};

const describedAs = (resources: Resources, summary: string): Resource => {
  const [found] = [...ofType(resources, 'AWS::Lambda::Function').values()].filter(
    ({ Properties }) => Properties.Description === summary,
  );
  if (!found) throw new Error(`No function is for: ${summary}`);
  return found;
};

const variablesOf = ({ Properties }: Resource) =>
  (Properties.Environment as { readonly Variables: Readonly<Record<string, Json>> }).Variables;

const serveFile = jobs['serve-file'].summary;
const servePage = jobs['serve-page'].summary;

describe('deployment without CloudFront', () => {
  test('has no resources of CloudFront and no permissions for it', () => {
    for (const [name, resources] of off.stacks) {
      expect(
        [...resources.values()].filter(({ Type }) => Type.startsWith('AWS::CloudFront')),
        name,
      ).toEqual([]);
      expect(JSON.stringify([...resources]), name).not.toMatch(/cloudfront(?::|\.amazonaws)/);
    }
  });

  test('has the same stacks and functions except those of files and console', () => {
    expect([...off.stacks.keys()]).toEqual([...on.stacks.keys()]);
    const described = ({ stacks }: typeof off) =>
      [...stacks.values()].flatMap((resources) =>
        [...ofType(resources, 'AWS::Lambda::Function').values()].map(({ Properties }) =>
          String(Properties.Description),
        ),
      );
    const [with_, without] = [described(on), described(off)];
    expect(with_.filter((one) => !without.includes(one))).toEqual([jobs['make-size'].summary]);
    expect(without.filter((one) => !with_.includes(one))).toEqual([serveFile, servePage]);
  });

  test('keeps files in the same bucket, which only functions can access', () => {
    const [id, bucket] = only(stackOf(off, 'Files'), 'AWS::S3::Bucket');
    expect([id, bucket]).toEqual(only(stackOf(on, 'Files'), 'AWS::S3::Bucket'));
    const [, { Properties }] = only(stackOf(off, 'Files'), 'AWS::S3::BucketPolicy');
    expect(JSON.stringify(Properties)).not.toContain('"Allow"');
  });

  test('redirects readers of files by a public function with at most twenty concurrent runs', () => {
    const files = stackOf(off, 'Files');
    expect(only(files, 'AWS::Lambda::Url')[1].Properties).toMatchObject({ AuthType: 'NONE' });
    const [, made] = only(files, 'AWS::Lambda::Function');
    expect(made.Properties).toMatchObject({ Description: serveFile, ReservedConcurrentExecutions: 20, Timeout: 25 });
    const actions = statementsOf(files, made).flatMap(({ Action }) => Action);
    expect(actions.filter((one) => one.startsWith('s3:')).sort()).toEqual([
      's3:DeleteObject',
      's3:GetObject',
      's3:ListBucket',
      's3:PutObject',
    ]);
    expect(off.outputs.get('Basalt-Files')).toEqual(['FilesUrl']);
  });

  test('signs links with a key that the function for files also has', () => {
    const signing = [...off.stacks.values()].flatMap((resources) =>
      [...ofType(resources, 'AWS::Lambda::Function').values()].filter((made) =>
        JSON.stringify(made.Properties.Environment ?? {}).includes('"LINK_KEY_ID"'),
      ),
    );
    expect(signing.length).toBeGreaterThan(2);
    for (const made of signing) expect(variablesOf(made).LINK_KEY_ID).toBe('without-cloudfront');
    const rotate = describedAs(stackOf(off, 'Jobs'), jobs['rotate-link-keys'].summary);
    expect(variablesOf(rotate)).not.toHaveProperty('LINK_KEY_GROUP');
    const sign = routesOf(stackOf(off, 'Routes-storage')).find(({ key }) => key === 'POST /api/storage/sign');
    const { FILES_URL } = variablesOf(sign?.function ?? rotate);
    expect(JSON.stringify(FILES_URL)).toMatch(/"Fn::Split":\["\/",\{"Fn::ImportValue":"Basalt-Files:.*FunctionUrl/);
  });

  test('serves the console at the address of the dashboard API, outside of /api', () => {
    const pages = stackOf(off, 'Console');
    expect(routesOf(pages).map(({ key, function: { Properties } }) => [key, Properties.Description])).toEqual([
      ['GET /', servePage],
      ['GET /{proxy+}', servePage],
    ]);
    const api = routesOf(stackOf(off, 'DashboardApi')).map(({ key, function: made }) => [
      key,
      made.Properties.Description,
    ]);
    const refusal = defaultRoutes['not-found'].summary;
    expect(api).toEqual([
      ['$default', refusal],
      ['GET /api/{proxy+}', refusal],
    ]);
    expect(routesOf(stackOf(off, 'PublicApi')).map(({ key }) => key)).not.toContain('GET /api/{proxy+}');
    for (const { function: made } of routesOf(stackOf(off, 'Routes-dashboard-auth'))) {
      const { DASHBOARD_URL, DASHBOARD_ORIGINS, DASHBOARD_API_URL, VIEWER_SECRET } = variablesOf(made);
      expect(JSON.stringify(DASHBOARD_URL)).toContain('"Basalt-DashboardApi:');
      expect([DASHBOARD_ORIGINS, DASHBOARD_API_URL]).toEqual([DASHBOARD_URL, DASHBOARD_URL]);
      // No proxy in front of the gateway can set the source address.
      expect(VIEWER_SECRET).toBe('');
    }
    expect(off.outputs.get('Basalt-Console')).toEqual(['Url', 'Bucket', 'PublicApi']);
  });

  test('allows the function for pages to read only the folder of the site', () => {
    const pages = stackOf(off, 'Console');
    const [bucketId] = only(pages, 'AWS::S3::Bucket');
    const made = describedAs(pages, servePage);
    const BucketArn = { 'Fn::GetAtt': [bucketId, 'Arn'] };
    const [, ...statements] = statementsOf(pages, made).map(({ Action, Resource }) => ({ Action, Resource }));
    expect(statements).toEqual([
      { Action: 's3:GetObject', Resource: { 'Fn::Join': ['', [BucketArn, '/site/*']] } },
      { Action: 's3:ListBucket', Resource: BucketArn },
    ]);
    expect(variablesOf(made).CONSOLE_BUCKET).toEqual({ Ref: bucketId });
  });

  test('allows the pages to show files from the bucket', () => {
    const policy = JSON.stringify(variablesOf(describedAs(stackOf(off, 'Console'), servePage)).CONSOLE_POLICY);
    const places = policy.match(/(?:img|frame|connect)-src [^;]*/g) ?? [];
    expect(places).toHaveLength(3);
    for (const place of places) expect(place).toMatch(/FunctionUrl.*\.s3\."/);
    expect(policy).not.toMatch(/unsafe|nonce|sha256/);
  });

  test('has an explained alarm for files and pages, and none for image variants', () => {
    const guide = readFileSync(join(root, 'docs/operate/without-cloudfront.md'), 'utf8');
    const titles = ({ stacks }: typeof off) =>
      [...ofType(stacks.get('Basalt-Watch') ?? new Map(), 'AWS::CloudWatch::Alarm').values()].map(({ Properties }) =>
        String(Properties.AlarmName).replace('Basalt: ', ''),
      );
    const [without, with_] = [titles(off), titles(on)];
    const more = without.filter((title) => !with_.includes(title));
    expect(more).toEqual(['Files are not shown: serve-file fails', 'The console does not open: serve-page fails']);
    for (const title of more) {
      const [lost, job] = /^(.+): ([a-z-]+) fails$/.exec(title)?.slice(1) ?? [];
      expect(guide).toContain(`| \`${job}\` | ${lost} |`);
    }
    expect(with_.filter((title) => !without.includes(title))).toEqual([
      'Images do not appear in new sizes: make-size fails',
    ]);
    expect(JSON.stringify([...(off.stacks.get('Basalt-Watch') ?? [])])).not.toContain('AWS/CloudFront');
  });

  test('accepts the domains of its APIs, fixed addresses and every other setting', () => {
    const { filesDomain, filesCertificateArn, consoleDomain, consoleCertificateArn, ...others } = everything;
    const { stacks } = synthesise({ ...others, cloudFront: 'off' });
    const auth = routesOf(stacks.get('Staging-Routes-dashboard-auth') ?? new Map())[0]?.function;
    expect(auth && variablesOf(auth)).toMatchObject({
      DASHBOARD_ORIGINS: 'https://dashboard-api.example.com,https://app.example.com,http://localhost:3000',
    });
    expect(filesDomain && filesCertificateArn && consoleDomain && consoleCertificateArn).toBeTruthy();
  });

  test.each(['filesDomain', 'consoleDomain'] as const)('is rejected when %s is set', (name) => {
    const certificate = name === 'filesDomain' ? 'filesCertificateArn' : 'consoleCertificateArn';
    const context = { cloudFront: 'off', [name]: everything[name], [certificate]: everything[certificate] };
    expect(() => synthesise(context)).toThrow(`cloudFront=off and ${name} exclude each other`);
    expect(() => synthesise({ cloudFront: 'none' })).toThrow('cloudFront must be on, off or added');
  });
});

describe('CloudFront when it is added later', () => {
  const links = { off: linksOf({ cloudFront: 'off' }), added: linksOf({ cloudFront: 'added' }), on: linksOf({}) };

  test('removes no imported value, unlike any other change', () => {
    expect(refusedBetween(links.off, links.added)).toEqual([]);
    expect(refusedBetween(links.off, links.on).length).toBeGreaterThan(0);
    expect(refusedBetween(links.on, links.off).length).toBeGreaterThan(0);
    expect(refusedBetween(links.added, links.on).length).toBeGreaterThan(0);
  });

  test('changes no resource with data and no earlier address', () => {
    for (const name of ['Data', 'Files', 'Console', 'DashboardApi']) {
      const later = stackOf(added, name);
      const kept = [...stackOf(off, name)].filter(
        ([, { Type }]) => !['AWS::S3::BucketPolicy', 'AWS::Lambda::Function'].includes(Type),
      );
      for (const [id, resource] of kept) expect(later.get(id), `${name} ${id}`).toEqual(resource);
      for (const id of ofType(stackOf(off, name), 'AWS::Lambda::Function').keys()) expect(later.has(id)).toBe(true);
    }
  });

  test('has everything that a deployment with CloudFront has', () => {
    for (const name of ['Files', 'Console']) {
      const later = stackOf(added, name);
      for (const [id, resource] of stackOf(on, name)) expect(later.get(id), `${name} ${id}`).toEqual(resource);
    }
    const jobsOf = ({ stacks }: typeof off) =>
      [...stacks.values()].flatMap((resources) =>
        [...ofType(resources, 'AWS::Lambda::Function').values()].map(({ Properties }) => Properties.Description),
      );
    for (const [, { summary }] of deployedJobs('added')) expect(jobsOf(added)).toContain(summary);
  });

  test("signs new links with CloudFront's keys, and earlier links keep working", () => {
    const sign = routesOf(stackOf(added, 'Routes-storage')).find(({ key }) => key === 'POST /api/storage/sign');
    if (!sign) throw new Error('There is no such route');
    expect(variablesOf(sign.function)).not.toHaveProperty('LINK_KEY_ID');
    expect(JSON.stringify(variablesOf(sign.function).FILES_URL)).toContain('PublicFiles');
    expect(variablesOf(describedAs(stackOf(added, 'Files'), serveFile)).LINK_KEY_ID).toBe('without-cloudfront');
  });
});
