"""The learned reader: a small network reads every site from a rectified view of the board. This
package only reads; the network is taught by `calibration.training`."""
