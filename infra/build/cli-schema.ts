import { dashboardDocument } from '../../functions/dashboard-api.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

interface ObjectSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

type Document = ReturnType<typeof dashboardDocument>;

const project = '/api/projects/{projectId}';

interface Operation {
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: ObjectSchema }>> };
}

/** The properties of a route's body. */
const propertiesOf = ({ paths }: Document, method: string, path: string): ObjectSchema['properties'] => {
  const operations = paths[path] as Readonly<Record<string, Operation>> | undefined;
  const schema = operations?.[method]?.requestBody.content['application/json']?.schema;
  if (!schema) throw new Error(`${method} ${path} has no body`);
  return schema.properties;
};

const pick = (properties: ObjectSchema['properties'], names: readonly string[]): ObjectSchema['properties'] =>
  Object.fromEntries(names.map((name) => [name, properties[name] ?? {}]));

const objectOf = (properties: ObjectSchema['properties'], required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
});

const variable = { type: 'string', pattern: String.raw`^\$\{[A-Z][A-Z0-9_]*\}$` };
const secret: JsonSchema = {
  ...variable,
  description: 'The name of an environment variable in braces after a dollar sign.',
};

/** Adds definitions until none is missing. */
const withDefinitions = (schema: JsonSchema, { components }: Document): JsonSchema => {
  const { schemas: known } = components as { readonly schemas: Readonly<Record<string, JsonSchema>> };
  const found: Record<string, JsonSchema> = {};
  const add = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/([\w.-]+)/g)) {
      const definition = known[name];
      if (name in found || !definition) continue;
      found[name] = definition;
      add(JSON.stringify(definition));
    }
  };
  add(JSON.stringify(schema));
  const text = JSON.stringify({ ...schema, $defs: found });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonSchema;
};

/** Returns the JSON Schema of `basalt.schema.json` for editors, from the bodies of the routes that a push calls. */
export const schemaFileSchema = (): JsonSchema => {
  const document = dashboardDocument();
  const { name: _name, ...collection } = propertiesOf(document, 'post', `${project}/collections`);
  const index = propertiesOf(document, 'post', `${project}/collections/{collectionName}/indexes`);
  const { name: _project, ...settings } = propertiesOf(document, 'patch', project);
  const template = propertiesOf(document, 'post', `${project}/mail/templates`);
  const webhook = propertiesOf(document, 'post', `${project}/webhooks`);
  const ofCollection = {
    ...collection,
    indexes: { type: 'array', items: objectOf(index, ['keys']) },
  };
  const schema = objectOf(
    {
      $schema: { type: 'string' },
      version: { const: 1 },
      collections: { type: 'object', additionalProperties: objectOf(ofCollection) },
      settings: objectOf({ ...settings, providerApiKey: secret, providerWebhookSecret: secret }),
      templates: {
        type: 'object',
        additionalProperties: objectOf(pick(template, ['key', 'subject', 'html', 'text']), ['subject']),
      },
      webhooks: {
        type: 'array',
        items: objectOf(pick(webhook, ['url', 'events', 'collections', 'enabled']), ['url', 'events']),
      },
    },
    ['version', 'collections'],
  );
  return withDefinitions(
    { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'basalt.schema.json', ...schema },
    document,
  );
};
