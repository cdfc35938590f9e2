import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { viewAs } from '../../text/view-as.ts';
import { addressWith } from '../../ui/address.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { UserSearch } from '../access/user-picker.tsx';
import { userName } from '../users/user-name.ts';
import { withoutUser } from './viewer.ts';

/** The name of a user by their id. */
const UserName = ({ projectId, id }: { readonly projectId: string; readonly id: string }) => {
  const { data } = useQuery('get-user', { projectId, id }).value;
  return <strong>{data ? userName(data) : id}</strong>;
};

/** Says whose view is shown, and ends it. */
export const ViewingAs = ({ projectId, viewer }: { readonly projectId: string; readonly viewer: string }) => {
  const { path, query } = useLocation();
  return (
    <div class="note warning row viewing" role="status">
      <span>
        {viewAs.viewing}{' '}
        {viewer === withoutUser ? (
          <strong>{viewAs.signedOut}</strong>
        ) : (
          <UserName key={viewer} projectId={projectId} id={viewer} />
        )}
        {' · '}
        {viewer !== withoutUser && (
          <>
            <a href={`${path}/access?operation=update&user=${viewer}`}>{viewAs.tryWrite}</a>
            {' · '}
          </>
        )}
        <a href={addressWith(path, query, { as: undefined, page: undefined, open: undefined })}>{viewAs.stop}</a>
      </span>
      <span class="muted">{viewAs.why}</span>
    </div>
  );
};

/** Chooses whose view is shown. It is kept in the address. */
export const ViewAsMenu = ({ projectId }: { readonly projectId: string }) => {
  const { path, query, route } = useLocation();
  const choosing = useSignal(false);
  const go = (as: string | undefined) => () =>
    route(addressWith(path, query, { as, page: undefined, open: undefined, new: undefined, copy: undefined }));
  return (
    <>
      <Menu title={viewAs.title} label={<>{viewAs.title} ▾</>}>
        <button type="button" onClick={go(undefined)}>
          {viewAs.secret}
        </button>
        <button type="button" onClick={go(withoutUser)}>
          {viewAs.publishable}
        </button>
        <button
          type="button"
          onClick={() => {
            choosing.value = true;
          }}
        >
          {viewAs.user}
        </button>
      </Menu>
      {choosing.value && (
        <Dialog
          title={viewAs.title}
          onClose={() => {
            choosing.value = false;
          }}
        >
          <UserSearch
            projectId={projectId}
            onChoose={({ id }) => {
              choosing.value = false;
              go(id)();
            }}
          />
        </Dialog>
      )}
    </>
  );
};
