import { useLocation } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';

export const AcceptInvitation = () => {
  const { query, route } = useLocation();
  const { draft, set } = useDraft({ token: query.token ?? '' });
  const accept = async () => {
    const { data } = await request('accept-invitation', { body: draft.value });
    route(`/projects/${data.projectId}`, true);
  };
  return (
    <Page title={t.invitation.title}>
      <div class="measure">
        <Form act={t.invitation.act} onSubmit={accept}>
          {(wrong) =>
            query.token === undefined && (
              <Field
                label={t.invitation.token}
                required
                value={draft.value.token}
                onInput={set('token')}
                wrong={wrong('token')}
              />
            )
          }
        </Form>
      </div>
    </Page>
  );
};
