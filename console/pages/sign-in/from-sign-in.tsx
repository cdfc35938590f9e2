import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { placeAfter } from './place-after.ts';

/** Leads a signed-in developer from the sign-in page to the requested page. */
export const FromSignIn = () => {
  const { query, route } = useLocation();
  const to = placeAfter(query.to);
  useEffect(() => route(to, true), [to, route]);
  return null;
};
