"""TLS for a table: a certificate of its own for its names, made when there is none and renewed in
time."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Collection
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from calibration.files import write_whole

DAYS, RENEW_DAYS = 397, 30  # browsers accept none that is valid for longer
USUAL = ("nilometer.local", "localhost", "127.0.0.1", "::1")


def server_context(folder: Path, names: Collection[str]) -> ssl.SSLContext:
    """A context with the table's own certificate, `tls.pem` in `folder` (readable only by the
    table's own user). Raises OSError."""
    path = folder / "tls.pem"
    wanted = {*names, *own_names()}
    if not _is_good(path, wanted):
        write_whole(path, made_certificate(sorted(wanted)), 0o600)
    return context_of(path)


def context_of(certificate: Path, key: Path | None = None) -> ssl.SSLContext:
    """Raises OSError (also ssl.SSLError) for files that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(certificate, key)
    return context


def own_names() -> set[str]:
    """The names of this machine in its network."""
    name = socket.gethostname().split(".")[0]
    return {*USUAL, name, f"{name}.local"} - {""}


def made_certificate(names: Collection[str]) -> bytes:
    """A key and a certificate for these names and addresses, self-signed, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Nilometer")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # The clock of a Pi without a network starts in the past.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS - 1))
        .add_extension(
            x509.SubjectAlternativeName([_general_name(n) for n in names]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + certificate.public_bytes(serialization.Encoding.PEM)


def certificate_fingerprint(path: Path) -> str:
    """The certificate's SHA-256 fingerprint, in the form in which browsers show it."""
    digest = x509.load_pem_x509_certificate(path.read_bytes()).fingerprint(hashes.SHA256())
    return ":".join(f"{b:02X}" for b in digest)


def _is_good(path: Path, wanted: Collection[str]) -> bool:
    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        have = {
            *names.get_values_for_type(x509.DNSName),
            *map(str, names.get_values_for_type(x509.IPAddress)),
        }
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    left = found.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return set(wanted) <= have and left > datetime.timedelta(days=RENEW_DAYS)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
