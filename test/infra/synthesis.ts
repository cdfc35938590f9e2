import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { App } from 'aws-cdk-lib/core';
import { root } from '../../infra/build/function-files.ts';
import type { Packages } from '../../infra/build/packaged-function.ts';
import type { Reached } from '../../infra/build/reached-names.ts';
import { addService, type ServiceOptions } from '../../infra/stacks/service.ts';
import { reached } from './all-permissions.ts';

/** A template, or a part of one, as far as these tests read it. */
export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, Json>>;
  readonly DeletionPolicy?: string;
}

/** Logical id → resource. */
export type Resources = ReadonlyMap<string, Resource>;

/**
 * Replaces the bundles, so that templates are created without a build. `native` names those with bcrypt.
 */
const unbuilt =
  (...native: readonly string[]): Packages =>
  (name) => ({ code: Code.fromInline('exports.handler = () => {}'), native: native.includes(name) });

const resourcesOf = (template: unknown): Resources =>
  new Map(Object.entries((template as { Resources: Record<string, Resource> }).Resources));

/** The resources of one independent stack. */
export const resourcesOfStack = (stack: Parameters<typeof Template.fromStack>[0]): Resources =>
  resourcesOf(Template.fromStack(stack).toJSON());

export interface Synthesis {
  /** Stack → its resources. */
  readonly stacks: ReadonlyMap<string, Resources>;
  /** Stack → its outputs, without those that only link stacks. */
  readonly outputs: ReadonlyMap<string, readonly string[]>;
  /** Stack → the outputs that link it to other stacks. */
  readonly exports: ReadonlyMap<string, readonly string[]>;
  /** Stack → the tags of everything in it. */
  readonly tags: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Looked up in an account; synthesis must need nothing. */
  readonly missing: readonly unknown[];
}

/** A deployment that has chosen everything there is to choose. */
export const everything = {
  deployment: 'Staging',
  rateLimit: '1000',
  authRateLimit: '0',
  publicRequestsPerSecond: '9000',
  dashboardRequestsPerSecond: '100',
  accountConcurrency: '1000',
  mongoConnections: '1500',
  tableWritesPerSecond: '20000',
  egress: 'nat',
  developerSignup: 'closed',
  dashboardOrigins: 'https://app.example.com, http://localhost:3000',
  dashboardUrl: 'https://app.example.com',
  dashboardGithubClientId: 'some-client',
  emailFrom: 'Example <no-reply@example.com>',
  mailPerSecond: '10',
  mailRecipientsPerDay: '20000',
  aiBaseUrl: 'https://models.example.com/v1',
  aiModel: 'some-model',
  publicDomain: 'api.example.com',
  dashboardDomain: 'dashboard-api.example.com',
  apiCertificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/4567-cdef',
  filesDomain: 'files.example.com',
  filesCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0123-abcd',
  consoleDomain: 'console.example.com',
  consoleCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/89ab-0123',
  hostedZoneId: 'Z0123456789ABC',
  hostedZoneName: 'example.com',
  alarmEmail: 'ops@example.com',
  monthlyBudget: '200',
  logDays: '90',
  platformLogs: 'all',
  restart: '2026-01-01',
} as const;

/** The context of `cdk.json`, mainly feature flags of the CDK. */
export const configuredContext = (
  JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')) as { readonly context: Readonly<Record<string, unknown>> }
).context;

const made = new Map<string, Synthesis>();

/** The templates of the whole service with these settings; the same settings are synthesised once. */
export const synthesise = (context: Readonly<Record<string, string>> = {}): Synthesis => {
  const key = JSON.stringify(context);
  const synthesis = made.get(key) ?? make(context);
  made.set(key, synthesis);
  return synthesis;
};

const isExport = (name: string): boolean => name.startsWith('ExportsOutput');

const outputsOf = (
  stacks: ReturnType<App['synth']>['stacks'],
  which: (name: string) => boolean,
): ReadonlyMap<string, readonly string[]> =>
  new Map(stacks.map(({ id, template }) => [id, Object.keys(template.Outputs ?? {}).filter(which)]));

const make = (context: Readonly<Record<string, string>>): Synthesis =>
  assembled(context, ({ stacks, manifest }) => ({
    stacks: new Map(stacks.map((stack) => [stack.id, resourcesOf(stack.template)])),
    outputs: outputsOf(stacks, (name) => !isExport(name)),
    exports: outputsOf(stacks, isExport),
    tags: new Map(stacks.map(({ id, tags }) => [id, tags])),
    missing: manifest.missing ?? [],
  }));

/** The result of `read` for the service, synthesised with these settings. */
export const assembled = <T>(
  context: Readonly<Record<string, string>>,
  read: (assembly: ReturnType<App['synth']>) => T,
  options?: ServiceOptions,
  names: Reached = reached,
): T => {
  const outdir = mkdtempSync(join(tmpdir(), 'basalt-synthesis-'));
  try {
    const all = { ...configuredContext, 'aws:cdk:bundling-stacks': [], ...context };
    // The engine that holds templates to the schemas of CloudFormation takes longer to start than all else here takes.
    const builtinCloudFormationValidation = context === everything;
    const app = new App({ outdir, analyticsReporting: false, context: all, builtinCloudFormationValidation });
    addService(app, unbuilt(), names, options);
    return read(app.synth());
  } finally {
    rmSync(outdir, { recursive: true });
  }
};

/** The stack of jobs with these settings, synthesised without the areas, which take longest. */
export const jobsOf = (context: Readonly<Record<string, string>>): Resources =>
  assembled(context, ({ stacks }) => resourcesOf(stacks.find(({ id }) => id === 'Basalt-Jobs')?.template), {
    tables: { users: {}, developers: {} },
  });

/** Every resource of a type, by logical id. */
export const ofType = (resources: Resources, type: string): Resources =>
  new Map([...resources].filter(([, { Type }]) => Type === type));

/** The logical id that `{Ref}` or `{Fn::GetAtt}` points to, anywhere inside a value. */
const targetOf = (value: Json | undefined): string =>
  /"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/.exec(JSON.stringify(value))?.[1] ?? '';

export interface DeployedRoute {
  readonly key: string;
  readonly functionId: string;
  readonly function: Resource;
}

/** Every route with the function that its integration calls. */
export const routesOf = (resources: Resources): readonly DeployedRoute[] =>
  [...ofType(resources, 'AWS::ApiGatewayV2::Route').values()].map(({ Properties }) => {
    const integration = resources.get(targetOf(Properties.Target));
    const functionId = targetOf(integration?.Properties.IntegrationUri);
    const lambda = resources.get(functionId);
    if (!lambda) throw new Error(`${String(Properties.RouteKey)} leads to no function`);
    return { key: String(Properties.RouteKey), functionId, function: lambda };
  });

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: Json;
  readonly Condition?: Json;
}

/** The permissions of a function's role. */
export const statementsOf = (resources: Resources, lambda: Resource): readonly Statement[] => {
  const role = resources.get(targetOf(lambda.Properties.Role));
  if (!role || role.Properties.ManagedPolicyArns) throw new Error('The function has no role of its own');
  const policies = role.Properties.Policies as unknown as { PolicyDocument: { Statement: Statement[] } }[];
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
};
