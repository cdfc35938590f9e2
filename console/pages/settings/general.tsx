import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { inConsoleWords } from '../../text/hints.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

/** Name, site address, allowed origins, and deletion of the project. */
export const General = ({ project }: SettingsProps) => {
  const { _id: projectId, name, siteUrl, allowedDomains, role } = project;
  const { route } = useLocation();
  const { draft, set } = useDraft({ name, siteUrl: siteUrl ?? '', domains: allowedDomains.join('\n') });
  const deleting = useSignal(false);
  const save = async () => {
    const { hints } = await request('update-project', {
      projectId,
      body: {
        name: draft.value.name,
        siteUrl: draft.value.siteUrl || null,
        allowedDomains: draft.value.domains.split(/\s+/).filter(Boolean),
      },
    });
    say(`${t.settings.saved} ${inConsoleWords(hints ?? [])}`);
  };
  return (
    <div class="stack measure">
      <Form guarded act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            <Field
              label={t.projects.name}
              required
              value={draft.value.name}
              onInput={set('name')}
              wrong={wrong('name')}
            />
            <Field
              label={t.settings.siteUrl}
              hint={t.settings.siteUrlWhy}
              type="url"
              value={draft.value.siteUrl}
              onInput={set('siteUrl')}
              wrong={wrong('siteUrl')}
            />
            <TextField
              label={t.settings.domains}
              rows={4}
              value={draft.value.domains}
              onInput={set('domains')}
              wrong={wrong('allowedDomains')}
            />
            <p class="small muted">{t.settings.domainsWhy}</p>
          </>
        )}
      </Form>
      {role === 'owner' && (
        <section class="card stack">
          <h2>{t.settings.deleteTitle}</h2>
          <p>{t.settings.deleteText}</p>
          <div class="row">
            <Button
              kind="danger"
              onClick={() => {
                deleting.value = true;
              }}
            >
              {t.settings.deleteAct}
            </Button>
          </div>
        </section>
      )}
      {deleting.value && (
        <Confirm
          title={t.settings.deleteTitle}
          text={t.settings.deleteText}
          name={name}
          label={t.settings.typeName}
          act={t.settings.deleteAct}
          onClose={() => {
            deleting.value = false;
          }}
          onConfirm={async () => {
            await request('delete-project', { projectId });
            say(t.settings.deleted(name));
            route('/');
          }}
        />
      )}
    </div>
  );
};
