import { useSignal } from '@preact/signals';
import type { Scope } from '../../../shared/accounts/developers/scopes.ts';
import { useEvery } from '../../api/query-every.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { ScopePicker } from './scope-picker.tsx';

/** Creates a token: its scopes, its project and its expiry. */
export const NewToken = ({
  onMade,
  onCancel,
}: {
  readonly onMade: (token: Data<'create-token'>) => void;
  readonly onCancel: () => void;
}) => {
  const { data: projects } = useEvery('list-projects', {});
  const { draft, set } = useDraft({ name: '', projectId: '', expiresInDays: '90' });
  const chosen = useSignal<ReadonlySet<Scope>>(new Set(['documents:read']));
  const create = async () => {
    const { name, projectId, expiresInDays } = draft.value;
    const body = {
      name,
      scopes: [...chosen.value],
      expiresInDays: Number(expiresInDays),
      ...(projectId ? { projectIds: [projectId] } : {}),
    };
    onMade((await request('create-token', { body })).data);
  };
  return (
    <Form act={t.acts.create} cancel={t.acts.cancel} onCancel={onCancel} onSubmit={create}>
      {(wrong) => (
        <>
          <Field label={t.tokens.name} required value={draft.value.name} onInput={set('name')} wrong={wrong('name')} />
          <ScopePicker chosen={chosen} wrong={wrong('scopes')} />
          <Select
            label={t.tokens.projects}
            value={draft.value.projectId}
            options={[['', t.tokens.allProjects], ...(projects?.map(({ _id, name }) => [_id, name] as const) ?? [])]}
            onInput={set('projectId')}
          />
          <Field
            label={t.tokens.days}
            pattern="\d{1,3}"
            required
            value={draft.value.expiresInDays}
            onInput={set('expiresInDays')}
            wrong={wrong('expiresInDays')}
          />
        </>
      )}
    </Form>
  );
};
