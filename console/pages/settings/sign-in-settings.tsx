import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

type Provider = keyof SettingsProps['project']['socialProviders'];

const ProviderForm = ({ project, provider }: SettingsProps & { readonly provider: Provider }) => {
  const { enabled, clientId, hasClientSecret } = project.socialProviders[provider];
  const on = useSignal(enabled);
  const { draft, set } = useDraft({ clientId: clientId ?? '', clientSecret: '' });
  const save = async () => {
    const { clientSecret } = draft.value;
    await request('update-project', {
      projectId: project._id,
      body: {
        socialProviders: {
          [provider]: {
            enabled: on.value,
            clientId: draft.value.clientId || null,
            ...(clientSecret ? { clientSecret } : {}),
          },
        },
      },
    });
    draft.value = { ...draft.value, clientSecret: '' };
    say(t.settings.saved);
  };
  return (
    <section class="card stack">
      <h2>{t.providers[provider]}</h2>
      <p class="muted">{t.settings.callback(t.providers[provider])}</p>
      <Snippet
        code={`${service().api}/api/userAuth/social/${provider}/callback`}
        label={t.settings.callback(t.providers[provider])}
      />
      <Form act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            <Switch
              label={t.settings.enabled}
              on={on.value}
              onChange={(next) => {
                on.value = next;
              }}
            />
            <Field
              label={t.settings.clientId}
              value={draft.value.clientId}
              onInput={set('clientId')}
              wrong={wrong(`socialProviders.${provider}.clientId`)}
            />
            <Field
              label={t.settings.clientSecret}
              hint={hasClientSecret ? t.settings.secretKept : undefined}
              type="password"
              autocomplete="off"
              value={draft.value.clientSecret}
              onInput={set('clientSecret')}
              wrong={wrong(`socialProviders.${provider}.clientSecret`)}
            />
          </>
        )}
      </Form>
    </section>
  );
};

/** Whether the app has accounts, who may make one, and with whom one can sign in. */
export const SignInSettings = ({ project }: SettingsProps) => {
  const { _id: projectId, authEnabled, allowPublicSignup, socialProviders } = project;
  const change = async (body: { authEnabled?: boolean; allowPublicSignup?: boolean }) => {
    const { hints } = await request('update-project', { projectId, body });
    say([t.settings.saved, ...(hints ?? [])].join(' '));
  };
  return (
    <div class="stack measure">
      <Switch
        label={t.settings.accounts}
        hint={t.settings.accountsWhy}
        on={authEnabled}
        onChange={(on) => void change({ authEnabled: on })}
      />
      <Switch
        label={t.settings.signUps}
        hint={t.settings.signUpsWhy}
        on={allowPublicSignup}
        onChange={(on) => void change({ allowPublicSignup: on })}
      />
      {(Object.keys(socialProviders) as Provider[]).map((provider) => (
        <ProviderForm key={provider} project={project} provider={provider} />
      ))}
    </div>
  );
};
