import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { t } from '../../text/words.ts';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

/** The project's own account with the mail provider. */
export const MailSettings = ({
  project: { _id: projectId, name, providerFromEmail, hasProviderApiKey, hasProviderWebhookSecret },
}: SettingsProps) => {
  const { draft, set, replace } = useDraft({
    providerFromEmail: providerFromEmail ?? '',
    providerApiKey: '',
    providerWebhookSecret: '',
  });
  const save = async () => {
    const sent = draft.peek();
    const { providerApiKey, providerWebhookSecret } = sent;
    await request('update-project', {
      projectId,
      body: {
        providerFromEmail: sent.providerFromEmail || null,
        ...(providerApiKey ? { providerApiKey } : {}),
        ...(providerWebhookSecret ? { providerWebhookSecret } : {}),
      },
    });
    replace(sent, { ...sent, providerApiKey: '', providerWebhookSecret: '' });
    say(t.settings.saved);
  };
  return (
    <div class="measure stack">
      <Form guarded act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            <Field
              label={t.settings.from}
              hint={t.settings.fromWhy}
              value={draft.value.providerFromEmail}
              onInput={set('providerFromEmail')}
              wrong={wrong('providerFromEmail')}
            />
            <Field
              label={t.settings.ownKey}
              hint={hasProviderApiKey ? t.settings.secretKept : t.settings.ownKeyWhy}
              type="password"
              autocomplete="off"
              value={draft.value.providerApiKey}
              onInput={set('providerApiKey')}
              wrong={wrong('providerApiKey')}
            />
            <Field
              label={t.settings.webhookSecret}
              hint={hasProviderWebhookSecret ? t.settings.secretKept : undefined}
              type="password"
              autocomplete="off"
              value={draft.value.providerWebhookSecret}
              onInput={set('providerWebhookSecret')}
              wrong={wrong('providerWebhookSecret')}
            />
          </>
        )}
      </Form>
      {hasProviderApiKey && (
        <>
          <p>{t.settings.webhookAddress}</p>
          <Snippet code={`${service().api}/api/mail/webhook/${projectId}`} label={t.settings.webhookAddress} />
          <div class="row">
            <ConfirmedAct
              kind="danger"
              act={t.settings.removeKey}
              text={t.settings.removeKeyText}
              name={name}
              onConfirm={async () => {
                const body = { providerApiKey: null, providerWebhookSecret: null, providerFromEmail: null };
                await request('update-project', { projectId, body });
                draft.value = { providerFromEmail: '', providerApiKey: '', providerWebhookSecret: '' };
              }}
            />
          </div>
        </>
      )}
    </div>
  );
};
