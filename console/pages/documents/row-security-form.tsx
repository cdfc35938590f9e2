import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';

type Collection = Data<'get-collection'>;

/** Who may do what with a publishable key, as a sentence and as settings. */
export const RowSecurityForm = ({
  projectId,
  collection,
}: {
  readonly projectId: string;
  readonly collection: Collection;
}) => {
  const { rls, name: collectionName } = collection;
  const enabled = useSignal(rls.enabled);
  const { draft, set } = useDraft({
    mode: rls.mode,
    ownerField: rls.ownerField ?? '',
    trash: rls.trash,
    requires: rls.requires,
  });
  const save = async () => {
    const { hints = [] } = await request('update-collection', {
      projectId,
      collectionName,
      body: { rls: enabled.value ? { enabled: true, ...draft.value } : { enabled: false } },
    });
    say([t.settings.saved, ...hints].join(' '));
  };
  const { mode, ownerField, trash, requires } = draft.value;
  return (
    <section class="card stack measure">
      <h2>{t.rls.title}</h2>
      <p>
        {enabled.value ? t.rls.says[mode](ownerField) : t.rls.off}
        {enabled.value && requires === 'mfa' && ` ${t.rls.mfa}`}
      </p>
      <Form act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            <Switch
              label={t.rls.enabled}
              on={enabled.value}
              onChange={(on) => {
                enabled.value = on;
              }}
            />
            {enabled.value && (
              <>
                <Select label={t.rls.mode} value={mode} options={Object.entries(t.rls.modes)} onInput={set('mode')} />
                <Field
                  label={t.rls.ownerField}
                  value={ownerField}
                  onInput={set('ownerField')}
                  wrong={wrong('rls.ownerField')}
                />
                <Select
                  label={t.rls.trash}
                  value={trash}
                  options={Object.entries(t.rls.audiences)}
                  onInput={set('trash')}
                />
                <Select
                  label={t.rls.requires}
                  value={requires}
                  options={Object.entries(t.rls.requirements)}
                  onInput={set('requires')}
                />
              </>
            )}
          </>
        )}
      </Form>
    </section>
  );
};
