import type { Push } from './apply.ts';
import { isObject, type JsonObject, settingDefaults } from './canonical.ts';
import type { Difference } from './differences.ts';
import type { Step } from './steps.ts';

const defaults: JsonObject = settingDefaults;

const settingOf = (settings: JsonObject, name: string): unknown => {
  const value = settings[name];
  const fallback = defaults[name];
  return isObject(fallback) ? { ...fallback, ...(isObject(value) ? value : {}) } : (value ?? fallback);
};

/** The secrets of this run that have a value in the environment, by path. */
const secretValues = ({ file, env }: Push, paths: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    paths.flatMap((path) => {
      const value = env[file.secrets.get(path) ?? ''];
      return value ? [[path, value] as const] : [];
    }),
  );

const providerTexts = ['clientId', 'teamId', 'keyId', 'issuer'] as const;

/** The changes of sign-in providers: their settings and secrets travel together. */
const providerChanges = (push: Push, values: ReadonlyMap<string, string>, removed: ReadonlySet<string>): JsonObject => {
  const { state, file } = push;
  const ofProject = (settings: JsonObject): JsonObject =>
    isObject(settings.socialProviders) ? settings.socialProviders : {};
  const [before, now] = [ofProject(state.project.settings), ofProject(file.project.settings)];
  const concerned = [...values.keys(), ...removed].flatMap((path) => {
    const [, name] = /^socialProviders\.(.+)\.\w+$/.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  const changed: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(now), ...concerned])) {
    const [old, next] = [before[name], now[name]];
    if (JSON.stringify(old) === JSON.stringify(next) && !concerned.includes(name)) continue;
    const provider: JsonObject = isObject(next) ? next : {};
    const texts = providerTexts.filter((text) => (isObject(old) && text in old) || text in provider);
    const secrets = ['clientSecret', 'privateKey'].flatMap((member): (readonly [string, unknown])[] => {
      const path = `socialProviders.${name}.${member}`;
      if (removed.has(path)) return [[member, null]];
      return values.has(path) ? [[member, values.get(path)]] : [];
    });
    // Providers by OpenID Connect are removed as a whole.
    changed[name] =
      name.startsWith('oidc:') && next === undefined
        ? null
        : {
            enabled: provider.enabled === true,
            ...Object.fromEntries(texts.map((text) => [text, provider[text] ?? null])),
            ...Object.fromEntries(secrets),
          };
  }
  return changed;
};

/** Enabled providers whose secret is neither in the project nor in the environment cannot be set. */
const withoutIncomplete = (
  push: Push,
  providers: JsonObject,
  notSet: string[],
  missing: readonly string[],
): JsonObject =>
  Object.fromEntries(
    Object.entries(providers).map(([name, provider]) => {
      const path = missing.find((each) => each.startsWith(`socialProviders.${name}.`));
      if (path === undefined || !isObject(provider) || provider.enabled !== true) return [name, provider];
      notSet.push(`settings.socialProviders.${name} stays off until ${push.file.secrets.get(path)} is set`);
      return [name, { ...provider, enabled: false }];
    }),
  );

export const settingsStep = (
  push: Push,
  differences: readonly Difference[],
  notSet: string[],
  isAll: boolean,
): Step | undefined => {
  const { linked, file } = push;
  const created = differences.filter(({ kind, action }) => kind === 'secret' && action === 'create');
  const removed = differences.filter(({ kind, action }) => kind === 'secret' && action === 'delete');
  const wanted = isAll ? [...file.secrets.keys()] : created.map(({ name }) => name);
  const values = secretValues(push, wanted);
  const missing = wanted.filter((path) => !values.has(path));
  for (const path of missing)
    notSet.push(`settings.${path}: the environment variable ${file.secrets.get(path)} is not set`);
  const gone = new Set(removed.map(({ name }) => name));
  const lacking = missing.filter((path) => !push.state.secrets.has(path));
  const providers = withoutIncomplete(push, providerChanges(push, values, gone), notSet, lacking);
  const plain = differences.filter(({ kind, name }) => kind === 'setting' && name !== 'socialProviders');
  const top = ['providerApiKey', 'providerWebhookSecret'];
  const body: JsonObject = {
    ...Object.fromEntries(plain.map(({ name }) => [name, settingOf(file.project.settings, name)])),
    ...Object.fromEntries([...values].filter(([path]) => top.includes(path))),
    ...Object.fromEntries([...gone].filter((path) => top.includes(path)).map((path) => [path, null])),
    ...(Object.keys(providers).length > 0 && { socialProviders: providers }),
  };
  if (Object.keys(body).length === 0) return undefined;
  return {
    label: 'update settings',
    run: async () => void (await linked.dashboard.call('PATCH', linked.path, body)),
  };
};
