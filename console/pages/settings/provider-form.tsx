import { titles } from 'basalt:providers';
import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

type Shown = SettingsProps['project']['socialProviders'];

const texts = ['issuer', 'clientId', 'teamId', 'keyId'] as const;

const isByDiscovery = (provider: string): boolean => provider.startsWith('oidc:');

/** The credentials of one provider. Secrets are not shown again. */
export const ProviderForm = ({
  project,
  provider,
  shown,
}: SettingsProps & { readonly provider: string; readonly shown: Shown['github'] }) => {
  const fields = texts.filter((name) => shown[name] !== undefined);
  const secret = shown.hasPrivateKey === undefined ? 'clientSecret' : 'privateKey';
  const isKept = shown.hasClientSecret ?? shown.hasPrivateKey ?? false;
  const on = useSignal(shown.enabled);
  const { draft, set } = useDraft<Record<string, string>>({
    ...Object.fromEntries(fields.map((name) => [name, shown[name] ?? ''])),
    [secret]: '',
  });
  const save = async () => {
    const given = draft.value;
    await request('update-project', {
      projectId: project._id,
      body: {
        socialProviders: {
          [provider]: {
            enabled: on.value,
            ...Object.fromEntries(fields.map((name) => [name, given[name] || null])),
            ...(given[secret] ? { [secret]: given[secret] } : {}),
          },
        },
      },
    });
    draft.value = { ...given, [secret]: '' };
    say(t.settings.saved);
  };
  const remove = async () => {
    await request('update-project', { projectId: project._id, body: { socialProviders: { [provider]: null } } });
    say(t.settings.saved);
  };
  const title = titles[provider] ?? provider;
  // A private key has several lines, which a single-line field would lose.
  const secretField = (wrong: (name: string) => string | undefined) => ({
    label: t.settings[secret],
    hint: isKept ? t.settings.secretKept : undefined,
    value: draft.value[secret] ?? '',
    onInput: set(secret),
    wrong: wrong(`socialProviders.${provider}.${secret}`),
  });
  return (
    <details class="card slim" open={shown.enabled}>
      <summary>
        <h2>{title}</h2>
      </summary>
      <div class="stack">
        <p class="muted">{t.settings.callback(title)}</p>
        <Snippet
          code={`${service().api}/api/userAuth/social/${provider}/callback`}
          label={t.settings.callback(title)}
        />
        <Form guarded act={t.acts.save} onSubmit={save}>
          {(wrong) => (
            <>
              <Switch
                label={t.settings.enabled}
                on={on.value}
                onChange={(next) => {
                  on.value = next;
                }}
              />
              {fields.map((name) => (
                <Field
                  key={name}
                  label={t.settings[name]}
                  value={draft.value[name] ?? ''}
                  onInput={set(name)}
                  wrong={wrong(`socialProviders.${provider}.${name}`)}
                />
              ))}
              {secret === 'privateKey' ? (
                <TextField {...secretField(wrong)} rows={6} />
              ) : (
                <Field {...secretField(wrong)} type="password" autocomplete="off" />
              )}
            </>
          )}
        </Form>
        {isByDiscovery(provider) && (
          <ConfirmedAct
            act={t.settings.removeProvider}
            text={t.settings.removeProviderText}
            name={provider}
            onConfirm={remove}
          />
        )}
      </div>
    </details>
  );
};
