/** The contents of an account, which `emulator/inventory.py` reads through the API. */
export interface Inventory {
  readonly stacks: Readonly<Record<string, StackState>>;
  readonly functions: Readonly<Record<string, FunctionState>>;
  readonly apis: readonly ApiState[];
  readonly domains: Readonly<Record<string, readonly { readonly ApiId: string; readonly Stage: string }[]>>;
  readonly mappings: readonly EventSource[];
  readonly rules: readonly RuleState[];
  readonly records: readonly { readonly Name: string; readonly Type: string; readonly target: string }[];
  readonly distributions: readonly {
    readonly Id: string;
    readonly aliases: readonly string[];
    readonly domain: string;
    readonly comment: string;
  }[];
  /** For each bucket of a console: key → type and cache rule. */
  readonly pages: readonly Readonly<Record<string, { readonly type: string; readonly cache: string | null }>>[];
  /** The secret that each distribution in front of an API sends. */
  readonly edgeSecrets: readonly string[];
  readonly alarms: readonly { readonly name: string; readonly actions: readonly string[] }[];
  readonly subscriptions: readonly { readonly topic: string; readonly endpoint: string }[];
  readonly roles: readonly string[];
  /** Name → days for which it is kept. */
  readonly logGroups: Readonly<Record<string, number | null>>;
  readonly topics: readonly string[];
  readonly queues: readonly string[];
  readonly tables: readonly string[];
  readonly buckets: readonly string[];
  /** Names. */
  readonly secrets: readonly string[];
  readonly addresses: readonly string[];
  /** Networks other than the account's own. */
  readonly networks: readonly string[];
}

interface StackState {
  readonly status: string;
  readonly protected: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

export interface FunctionState {
  readonly arn: string;
  readonly description: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly runtime: string;
  readonly architecture: string;
  readonly memory: number;
  readonly timeout: number;
  readonly role: string;
  readonly subnets: readonly string[];
  readonly reserved: number | null;
  /** The permissions to invoke it: principal and source. */
  readonly callers: readonly { readonly action: string; readonly principal: string; readonly source: string | null }[];
  readonly url: { readonly url: string; readonly auth: string } | null;
  readonly retries: number | null;
}

export interface ApiState {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly stages: readonly string[];
  readonly cors: boolean;
  /** Route key (`GET /api/health`) → ARN of its function. */
  readonly routes: Readonly<Record<string, string>>;
}

interface EventSource {
  readonly function: string;
  readonly source: string;
  readonly batch: number;
  readonly concurrency: number | null;
  readonly responses: readonly string[];
  readonly state: string;
}

interface RuleState {
  readonly schedule: string;
  readonly state: string;
  readonly targets: readonly string[];
}
