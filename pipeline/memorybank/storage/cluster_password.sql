-- A new password for the owner; {password} is made by secrets.token_urlsafe, so it holds no quote.
ALTER ROLE memorybank PASSWORD '{password}';
