import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { getProject, type Linked } from './linked-project.ts';
import { answerBy } from './mcp-answer.ts';
import { explainRefusal } from './mcp-explain.ts';
import { Plans } from './mcp-push.ts';
import { loadProjectState } from './project-state.ts';
import { schemaText } from './schema-file.ts';
import { CommandError } from './terminal.ts';
import { version } from './version.ts';

interface Served {
  readonly writes: boolean;
  /** Receives errors that the agent must not see. */
  readonly onFailure: (message: string) => void;
}

const instructions =
  'Basalt stores documents in collections. Read the schema first. Conditions and pipelines use the operators of MongoDB that the documentation lists.';

const collection = z.string().describe('the name of a collection');
const anyObject = z.record(z.string(), z.unknown());

const reading = { readOnlyHint: true, openWorldHint: false };
const writing = { readOnlyHint: false, openWorldHint: false };

/** The server of a project: tools that read, and with `writes` tools that write. */
export const projectServer = (linked: Linked, { writes, onFailure }: Served): McpServer => {
  const server = new McpServer({ name: 'basalt', version: version() }, { instructions });
  const { dashboard, path } = linked;
  const documentsOf = (name: string): string => `${path}/collections/${encodeURIComponent(name)}/documents`;
  const by = (act: () => Promise<unknown>) => answerBy(act, onFailure);

  server.registerTool('projects', { description: 'The project that this server serves.', annotations: reading }, () =>
    by(async () => {
      const { _id: id, name, plan, role, apiUrl, createdAt } = await getProject(linked);
      return [{ id, name, plan, role, apiUrl, createdAt }];
    }),
  );

  server.registerTool(
    'schema',
    {
      description:
        'The collections, settings, templates and webhooks of the project, in the form of basalt.schema.json. Secrets are names of variables.',
      annotations: reading,
    },
    () => by(async () => JSON.parse(schemaText(await loadProjectState(linked), {}, {}))),
  );

  server.registerTool(
    'query',
    {
      description:
        'Documents of a collection that meet a condition, the newest first, with the rights of the secret key.',
      inputSchema: {
        collection,
        where: anyObject.optional().describe('a condition, such as {"views":{"$gte":5}}'),
        limit: z.number().int().min(1).max(100).default(20).describe('how many documents'),
      },
      annotations: reading,
    },
    ({ collection: name, where, limit }) =>
      by(() => {
        const query = new URLSearchParams({
          limit: String(limit),
          ...(where && { where: JSON.stringify(where) }),
        });
        return dashboard.get(`${documentsOf(name)}?${query}`);
      }),
  );

  server.registerTool(
    'aggregate',
    {
      description: 'The results of a MongoDB aggregation pipeline that reads, with the rights of the secret key.',
      inputSchema: {
        collection,
        pipeline: z.array(anyObject).describe('the stages, such as [{"$group":{"_id":"$city","n":{"$sum":1}}}]'),
      },
      annotations: reading,
    },
    ({ collection: name, pipeline }) =>
      by(() => dashboard.call('POST', `${path}/collections/${encodeURIComponent(name)}/aggregate`, { pipeline })),
  );

  server.registerTool(
    'explain_refusal',
    {
      description: 'Why a request of an app was rejected, by the requestId of the error, and what to change.',
      inputSchema: { requestId: z.string().describe('requestId of the error, or the header x-request-id') },
      annotations: reading,
    },
    ({ requestId }) => by(() => explainRefusal(linked, requestId)),
  );

  if (!writes) return server;

  server.registerTool(
    'insert',
    {
      description: 'Inserts a document and returns it.',
      inputSchema: { collection, document: anyObject },
      annotations: { ...writing, destructiveHint: false },
    },
    ({ collection: name, document }) => by(() => dashboard.call('POST', documentsOf(name), document)),
  );

  server.registerTool(
    'update',
    {
      description: 'Updates fields of a document and returns it. Fields that changes leaves out stay.',
      inputSchema: {
        collection,
        id: z.string().describe('_id of the document'),
        changes: anyObject.describe('fields, dotted paths, and operators such as $inc'),
      },
      annotations: writing,
    },
    ({ collection: name, id, changes }) =>
      by(() => dashboard.call('PATCH', `${documentsOf(name)}/${encodeURIComponent(id)}`, changes)),
  );

  const plans = new Plans(linked);
  server.registerTool(
    'push_schema',
    {
      description:
        'Changes the project in two calls. With schema (all of it, in the form of the tool schema) it returns the changes and a plan. With plan it applies them, within 5 minutes. It removes no field, collection, template, webhook or secret.',
      inputSchema: { schema: anyObject.optional(), plan: z.string().optional() },
      annotations: writing,
    },
    ({ schema, plan }) =>
      by(async () => {
        if ((schema === undefined) === (plan === undefined)) throw new CommandError('Send either schema or plan.');
        return schema === undefined ? plans.apply(plan ?? '') : plans.plan(schema);
      }),
  );
  return server;
};

/** Serves on standard input and output, until the input ends. */
export const serve = async (linked: Linked, served: Served): Promise<void> => {
  const server = projectServer(linked, served);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
};
