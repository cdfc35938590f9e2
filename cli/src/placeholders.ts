import { isObject, type JsonObject } from './canonical.ts';
import { CommandError } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `${NAME}` in a text of the settings or webhooks is replaced from the environment. */
const placeholder = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** Returns the text, or `undefined` if a variable is missing. */
const fillText = (text: string, env: Environment): string | undefined => {
  let isComplete = true;
  const filled = text.replace(placeholder, (_all, name: string) => {
    const value = env[name];
    if (value === undefined) isComplete = false;
    return value ?? '';
  });
  return isComplete ? filled : undefined;
};

const missingIn = (text: string, env: Environment): string =>
  [...text.matchAll(placeholder)].map(([, name = '']) => name).find((name) => env[name] === undefined) ?? '';

/** Replaces the placeholders in all texts of a value. Throws if a variable is missing. */
export const fill = (value: unknown, env: Environment, path: string): unknown => {
  if (typeof value === 'string') {
    const filled = fillText(value, env);
    if (filled !== undefined) return filled;
    throw new CommandError(
      `${path} needs the environment variable ${missingIn(value, env)}. Set it and run the command again.`,
    );
  }
  if (Array.isArray(value)) return value.map((inner, index) => fill(inner, env, `${path}.${index}`));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, env, `${path}.${name}`)]));
};

const means = (written: unknown, value: unknown, env: Environment): boolean => {
  if (typeof written !== 'string' || typeof value !== 'string' || written.match(placeholder) === null) return false;
  const filled = fillText(written, env);
  return filled === undefined || filled === value;
};

/**
 * Returns a project's value as the file writes it: a placeholder stays if it has this value, or if its variable is not
 * set here.
 */
export const keepPlaceholders = (written: unknown, value: unknown, env: Environment): unknown => {
  if (means(written, value, env)) return written;
  if (Array.isArray(value)) {
    const texts: readonly unknown[] = Array.isArray(written) ? written : [];
    // A text whose variable is missing could stand for any element.
    const known = texts.filter((text) => typeof text === 'string' && fillText(text, env) !== undefined);
    return value.map((inner: unknown) => known.find((text) => means(text, inner, env)) ?? inner);
  }
  if (!isObject(value)) return value;
  const before: JsonObject = isObject(written) ? written : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, keepPlaceholders(before[name], inner, env)]),
  );
};

const secretSettings = ['providerApiKey', 'providerWebhookSecret'] as const;
const secretMembers: ReadonlySet<string> = new Set(['clientSecret', 'privateKey']);

/** Secrets by path, such as `socialProviders.github.clientSecret`, each with the name of its variable. */
export type Secrets = ReadonlyMap<string, string>;

const variableOf = (value: unknown, path: string): string => {
  const [, name] = /^\$\{([A-Z][A-Z0-9_]*)\}$/.exec(String(value)) ?? [];
  if (name !== undefined) return name;
  throw new CommandError(
    `settings.${path} is a secret. Write the name of an environment variable, such as "\${${suggestedVariable(path)}}".`,
  );
};

/** `socialProviders.github.clientSecret` → `GITHUB_CLIENT_SECRET`. */
export const suggestedVariable = (path: string): string =>
  path
    .replace(/^socialProviders\./, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();

/** Splits settings of a file into those that can be compared, and secrets. Throws for a secret that is written out. */
export const splitSecrets = (settings: JsonObject): { readonly settings: JsonObject; readonly secrets: Secrets } => {
  const secrets = new Map<string, string>();
  const rest: Record<string, unknown> = { ...settings };
  for (const name of secretSettings) {
    if (rest[name] != null) secrets.set(name, variableOf(rest[name], name));
    delete rest[name];
  }
  if (isObject(rest.socialProviders)) {
    rest.socialProviders = Object.fromEntries(
      Object.entries(rest.socialProviders).map(([name, provider]) => {
        if (!isObject(provider)) throw new CommandError(`settings.socialProviders.${name} must be an object.`);
        const members = Object.entries(provider).filter(([member, value]) => {
          if (!secretMembers.has(member)) return true;
          const path = `socialProviders.${name}.${member}`;
          if (value != null) secrets.set(path, variableOf(value, path));
          return false;
        });
        return [name, Object.fromEntries(members)];
      }),
    );
  }
  return { settings: rest, secrets };
};

const toPrivateKeyName = (member: string): string => (member === 'hasPrivateKey' ? 'privateKey' : 'clientSecret');

/** The paths of the secrets that a project record says it has. */
export const secretsOf = (project: JsonObject): ReadonlySet<string> => {
  const found = new Set<string>();
  if (project.hasProviderApiKey === true) found.add('providerApiKey');
  if (project.hasProviderWebhookSecret === true) found.add('providerWebhookSecret');
  for (const [name, provider] of Object.entries(isObject(project.socialProviders) ? project.socialProviders : {})) {
    for (const [member, value] of Object.entries(isObject(provider) ? provider : {})) {
      if (member.startsWith('has') && value === true) found.add(`socialProviders.${name}.${toPrivateKeyName(member)}`);
    }
  }
  return found;
};

/** The providers of a project record without the members that only tell of secrets. */
export const providersOf = (project: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(project.socialProviders) ? project.socialProviders : {}).map(([name, provider]) => [
      name,
      Object.fromEntries(
        Object.entries(isObject(provider) ? provider : {}).filter(([member]) => !member.startsWith('has')),
      ),
    ]),
  );

/** Puts placeholders for secrets into settings. */
export const withSecrets = (settings: JsonObject, variables: Secrets): JsonObject => {
  const result: Record<string, unknown> = { ...settings };
  for (const [path, variable] of variables) {
    const [first = '', ...rest] = path.split('.');
    const member = rest.at(-1);
    if (member === undefined) {
      result[first] = `\${${variable}}`;
      continue;
    }
    const providers: JsonObject = isObject(result.socialProviders) ? result.socialProviders : {};
    const name = rest.slice(0, -1).join('.');
    const provider = providers[name];
    result.socialProviders = {
      ...providers,
      [name]: { ...(isObject(provider) ? provider : {}), [member]: `\${${variable}}` },
    };
  }
  return result;
};
